import { expect, it } from "vitest";
import { defaultJsonLimits } from "#base/json/value.ts";
import { type Applied, nothingApplied } from "./applied.ts";
import { ProtocolApplier } from "./applier.ts";
import { ownArrival } from "./input.ts";
import type { IntakeStore } from "./intake-store.ts";

function createApplier(): ProtocolApplier {
  return new ProtocolApplier({
    kinds: [],
    decodeLimits: { json: defaultJsonLimits, lineBytesMax: 1024 },
    store: {} as IntakeStore,
    sessionGapNs: 0n,
    isFresh: true,
  });
}

const input = { ...ownArrival("default"), kind: "text", body: new Uint8Array() };

/** A step is long enough for others to have a turn after it. */
function* slowSteps(seen: string[], fails = false): Generator<void, Applied> {
  for (const step of ["first", "second"]) {
    seen.push(step);
    for (const until = performance.now() + 5; performance.now() < until; );
    yield;
  }
  if (fails) throw new RangeError("in the middle");
  return nothingApplied;
}

it("lets nobody else change the state while a record is applied in turns", async () => {
  const applier = createApplier();
  const seen: string[] = [];
  const applied = applier.applyInTurns(1, input, { prepare: () => null, apply: () => slowSteps(seen) });
  const changed = applier.whenIdle(() => seen.push("changed"));
  const failed = applier.whenIdle(() => {
    throw new Error("cannot be changed");
  });
  await expect(failed).rejects.toThrow("cannot be changed");
  await Promise.all([applied, changed]);
  expect(seen).toEqual(["first", "second", "changed"]);
  await applier.whenIdle(() => seen.push("at once"));
  expect(seen.at(-1)).toBe("at once");
});

it("lets others change the state that follows the one which a record has left half changed", async () => {
  const applier = createApplier();
  const { state } = applier;
  const waits = applier.applyInTurns(1, input, { prepare: () => null, apply: () => slowSteps([], true) });
  const changed = applier.whenIdle(() => applier.state);
  await expect(waits).rejects.toThrow("in the middle");
  applier.renew([]);
  expect(await changed).not.toBe(state);
});
