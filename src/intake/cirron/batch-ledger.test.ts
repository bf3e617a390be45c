import { expect, test } from "vitest";
import { BatchLedger } from "./batch-ledger.ts";

const batch = { contentHash: "hash", groupKey: "default/c/one", source: "", runOverride: "", receivedNs: 1n };

function fill(ledger: BatchLedger, from: number, count: number): void {
  for (let at = from; at < from + count; at++) ledger.add(`batch ${at}`, batch, at);
}

test("no batch is looked for in the store while all that came are kept", () => {
  const ledger = new BatchLedger(true);
  fill(ledger, 0, 40_000);
  for (let at = 40_000; at < 80_000; at++) expect(ledger.mayBeStored(`batch ${at}`)).toBe(false);
});

test("a batch that is no longer kept is looked for in the store, a new one hardly ever", () => {
  const ledger = new BatchLedger(true);
  fill(ledger, 0, 60_000);
  ledger.shrink(60_000, 0n, 1);
  expect(ledger.get("batch 0")).toBeUndefined();
  for (let at = 0; at < 60_000; at++)
    expect(ledger.get(`batch ${at}`) !== undefined || ledger.mayBeStored(`batch ${at}`)).toBe(true);
  const asked = Array.from({ length: 20_000 }, (_, at) => `new ${at}`).filter((id) => ledger.mayBeStored(id));
  expect(asked.length).toBeLessThan(20);
});
