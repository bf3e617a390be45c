import { expect, it } from "vitest";
import type { Input } from "#intake/input.ts";
import type { Decoded } from "#intake/input-kind.ts";
import type { Collector } from "./collector.ts";
import { createHttpIntake } from "./http-intake.ts";

const input = { body: new Uint8Array(10), imported: true } as unknown as Input;
const decoded = {} as Decoded;

/** A collector that takes `room` records and holds `held` of them decoded. */
function openIntake(room: number, held: number) {
  const lets: (() => void)[] = [];
  const given: (Decoded | null | undefined)[] = [];
  const collector = {
    sequencer: { position: { durable: 0 }, holdsDecoded: () => given.length < held },
    applier: { decodeInTurns: () => decoded },
    submit(_: Input, one: Decoded | null | undefined, onLetGo: () => void) {
      if (given.length === room) return "disk_full";
      given.push(one);
      lets.push(onLetGo);
      return { durable: Promise.resolve(given.length), applied: new Promise(() => {}) };
    },
  } as unknown as Collector;
  return { lets, given, intake: createHttpIntake(collector, { hearAck: () => {} }) };
}

it("lets go of a body when none of its records needs it any more, and decodes only what will be held", async () => {
  const { lets, given, intake } = openIntake(3, 1);
  const gone: string[] = [];
  const answer = await intake.submit([{ input }, { input }], "durable", undefined, () => gone.push("body"));
  expect([answer, given]).toEqual([{ position: 2, accepted: 0, duplicates: 0, faults: [] }, [decoded, null]]);
  lets[1]?.();
  expect(gone).toEqual([]);
  lets[0]?.();
  expect(gone).toEqual(["body"]);
});

it("leaves a body that was only taken in part to whoever answers it", async () => {
  const { lets, intake } = openIntake(1, 1);
  const gone: string[] = [];
  const answer = await intake.submit([{ input }, { input }], "durable", undefined, () => gone.push("body"));
  expect(answer).toMatchObject({ busy: true });
  for (const letGo of lets) letGo();
  expect(gone).toEqual([]);
});
