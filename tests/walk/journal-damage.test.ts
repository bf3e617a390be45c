// A journal whose files were damaged while the server was down: it starts, takes what is left, and says what is lost.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { encodeInput, type Input } from "#intake/input.ts";
import { createJournal } from "#journal/journal.ts";
import type { Collector } from "#server/collector/collector.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { askStore } from "../support/ask-store.ts";
import { openTestCollector } from "../support/collector.ts";
import { makeMigratedFolder } from "../support/migrated-folder.ts";

let dataDir: string;
let collector: Collector | undefined;
afterEach(async () => {
  await collector?.close(5000);
  await rm(dataDir, { recursive: true, force: true });
});

/** What a server leaves behind that was killed with five accepted records, `records` to a file. */
async function leaveJournal(recordBytes: number, records: number): Promise<string[]> {
  dataDir = await makeMigratedFolder();
  const dir = join(dataDir, "journal");
  const journal = await createJournal({ dir, segmentBytesMax: records * recordBytes + 200, budgetBytes: 1 << 30 });
  const arrival = { workspace: "default", transport: "tcp", source: "", runOverride: null, imported: false } as const;
  for (let seq = 1; seq <= 5; seq++) {
    const text = `sentence ${seq}`.padEnd(recordBytes - 200);
    const body = encodeFrame("log", { seq, ts: seq }, { run_id: "r", level: "info", msg: text });
    const place = { file: "", offset: 0, currentRun: null };
    const input: Input = { kind: "xtrack_frames", ...arrival, receivedNs: 1n, body, ...place };
    await journal.append(encodeInput(input));
  }
  await journal.close();
  return readdirSync(dir)
    .filter((name) => name !== "newest")
    .sort()
    .map((name) => join(dir, name));
}

async function open() {
  const troubles: string[] = [];
  collector = await openTestCollector(dataDir, () => undefined, { onTrouble: (message) => troubles.push(message) });
  await collector.drained();
  const rows = await askStore<{ msg: string }>(collector.store, { sql: "SELECT msg FROM tributary.logs ORDER BY seq" });
  return { troubles, logs: rows.map(({ msg }) => msg.trim()), damage: collector.damage };
}

test("a damaged record is counted and told, and its neighbours are taken", async () => {
  const [file] = (await leaveJournal(600, 100)) as [string];
  const bytes = readFileSync(file);
  bytes[bytes.indexOf("sentence 3")] = 0x7f;
  writeFileSync(file, bytes);
  const { troubles, logs, damage } = await open();
  expect(logs).toEqual(["sentence 1", "sentence 2", "sentence 4", "sentence 5"]);
  expect(damage.records).toBe(1);
  expect(troubles).toEqual([expect.stringContaining("1 accepted records could not be read back")]);
});

test("a first file that is gone is counted too", async () => {
  const files = await leaveJournal(600, 2);
  expect(files.length).toBeGreaterThan(2);
  rmSync(files[0] as string);
  const { logs, damage } = await open();
  expect(damage.records).toBe(5 - logs.length);
  expect(logs.at(-1)).toBe("sentence 5");
  expect(damage.sentences()[0]).toContain("are lost");
});

test("a last file that is gone is told, though nobody can say how many records it held", async () => {
  const files = await leaveJournal(600, 2);
  rmSync(files.at(-1) as string);
  const { troubles, logs, damage } = await open();
  expect(logs.length).toBeLessThan(5);
  expect(damage.records).toBe(1);
  expect(troubles).toEqual([
    expect.stringContaining("The journal's last file is gone or an older copy, and 1 or more"),
  ]);
});

test("an older copy of the last file is told, once the store has got past it", async () => {
  const [file] = (await leaveJournal(600, 100)) as [string];
  const before = readFileSync(file);
  await open();
  await collector?.close(5000);
  writeFileSync(file, before.subarray(0, before.indexOf("sentence 3")));
  const { damage } = await open();
  expect(damage.sentences()).toEqual([expect.stringContaining("older copy")]);
});

test("a write that was cut off is said once, and is no loss", async () => {
  const [file] = (await leaveJournal(600, 100)) as [string];
  writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.alloc(40, 7)]));
  const { troubles, logs, damage } = await open();
  expect(logs).toHaveLength(5);
  expect(troubles).toEqual([expect.stringContaining("cut off: 40 bytes")]);
  expect(damage.sentences()).toEqual([]);
});

test("a damaged note of how far the store has got loses nothing, doubles nothing and is no loss", async () => {
  const files = await leaveJournal(600, 2);
  await open();
  await collector?.close(5000);
  const segments = readdirSync(join(dataDir, "journal")).filter((name) => name !== "newest");
  expect(segments).not.toContain(basename(files[0] as string));
  const position = join(dataDir, "outbox", "position");
  writeFileSync(position, readFileSync(position).subarray(0, 3));
  const { logs, damage } = await open();
  expect(logs).toEqual([1, 2, 3, 4, 5].map((seq) => `sentence ${seq}`));
  expect(damage.sentences()).toEqual([]);
});
