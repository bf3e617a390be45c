import { expect, it } from "vitest";
import type { Input } from "./input.ts";
import { encodeInput } from "./input.ts";
import type { Decoded } from "./input-kind.ts";
import { replay } from "./replay.ts";
import type { Applier, InputLog } from "./sequencer.ts";

const input: Input = {
  ...{ kind: "test", workspace: "default", transport: "http", source: "s", runOverride: null, imported: false },
  ...{ receivedNs: 1n as Input["receivedNs"], body: new Uint8Array(1000) },
};

/** A journal of so many records, and what it and the applier were asked, in their order. */
function createParts(records: number, foresee?: Applier["foresee"]) {
  const asked: string[] = [];
  const [head, ...rest] = encodeInput(input) as [Uint8Array, ...Uint8Array[]];
  const payload = Buffer.concat([head, ...rest]);
  const log: InputLog = {
    append: () => "disk_full",
    async *replay(from) {
      for (let position = from; position <= records; position++) {
        asked.push(`read ${position}`);
        yield { position, payload: position === 3 ? new Uint8Array(2) : payload };
      }
    },
  };
  const applier = {
    decodeAgain(position: number): Decoded {
      asked.push(`decode ${position}`);
      if (position === 2) throw new Error("a bug");
      return { prepare: () => null, apply: () => ({ parts: [], state: [], accepted: 0, duplicates: 0, faults: [] }) };
    },
    foresee: async (entries: Parameters<NonNullable<Applier["foresee"]>>[0]) => {
      asked.push(`foresee ${entries.length}`);
      await foresee?.(entries);
    },
  } as unknown as Applier;
  return { asked, log, applier };
}

it("foresees what records need up to a place, and reads the others one by one", async () => {
  const { asked, log, applier } = createParts(6);
  const seen: string[] = [];
  for await (const { position, input: read, decode } of replay(log, applier, 1, 4)) {
    asked.push(`take ${position}`);
    try {
      if (read !== null) await decode();
      seen.push(`${position}${read === null ? " unreadable" : ""}`);
    } catch {
      seen.push(`${position} failed`);
    }
  }
  expect(seen).toEqual(["1", "2 failed", "3 unreadable", "4", "5", "6"]);
  const ahead = ["read 1", "read 2", "read 3", "read 4", "decode 1", "decode 2", "decode 4", "foresee 2"];
  const inTurn = ["take 1", "take 2", "decode 2", "take 3", "take 4"];
  expect(asked).toEqual([...ahead, ...inTurn, "read 5", "take 5", "decode 5", "read 6", "take 6", "decode 6"]);
});

it("bounds what is read ahead, and goes on when the store cannot tell", async () => {
  const { asked, log, applier } = createParts(600, () => Promise.reject(new Error("too large")));
  let taken = 0;
  for await (const { position } of replay(log, applier, 4, 1000)) expect(position).toBe(4 + taken++);
  expect(taken).toBe(597);
  expect(asked.filter((one) => one.startsWith("foresee"))).toEqual(["foresee 256", "foresee 256", "foresee 85"]);
});
