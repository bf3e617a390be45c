import { expect, it } from "vitest";
import { nothingApplied } from "./applied.ts";
import { HeldInputs } from "./held-inputs.ts";
import type { Input } from "./input.ts";
import type { Decoded } from "./input-kind.ts";

const large = 9 * 1024 * 1024;

it("holds as much as it may, and neither bytes nor rows of what is read back from the journal", () => {
  const held = new HeldInputs();
  const letGo: number[] = [];
  const released: number[] = [];
  const settled: number[] = [];
  const hold = (position: number, isDecoded: boolean): void => {
    const decoded: Decoded = {
      prepare: () => null,
      apply: () => nothingApplied,
      release: () => void released.push(position),
    };
    const input = { body: new Uint8Array(large) } as unknown as Input;
    const settle = (): void => void settled.push(position);
    held.hold({
      ...{ position, input, settle, letGo: () => void letGo.push(position), delays: 0 },
      decoded: isDecoded ? decoded : null,
    });
  };
  expect(held.hasRoom(large)).toBe(true);
  hold(1, true);
  expect(held.hasRoom(large)).toBe(false);
  hold(2, false);
  hold(3, true);
  expect([1, 2, 3].map((position) => held.has(position))).toEqual([true, false, false]);
  expect([letGo, released]).toEqual([[2, 3], [3]]);
  const answer = { position: 0, accepted: 0, duplicates: 0, faults: [] };
  for (const position of [2, 3]) held.takeUnanswered(position).settle(answer);
  held.take(1)?.letGo();
  expect([settled, letGo, released]).toEqual([[2, 3], [2, 3, 1], [3]]);
  // A large one is held alone.
  expect(held.hasRoom(4 * large)).toBe(true);
});
