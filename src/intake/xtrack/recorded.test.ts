import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { atOnce } from "#base/turns.ts";
import { KnownGroups } from "#intake/known-groups.ts";
import { RecentIds } from "#intake/recent-ids.ts";
import type { Rows } from "#model/tables.ts";
import { decodeXtrack, XtrackStream } from "#wire/xtrack/stream.ts";
import { expectEqual } from "../../../tests/support/expect-equal.ts";
import { applyXtrack } from "./apply.ts";

interface Message {
  readonly t: string;
  readonly m: { readonly seq: number; readonly ts: number };
  readonly p: {
    readonly run_id: string | { readonly id: string };
    readonly key: string;
    readonly value: number;
    readonly metrics: Readonly<Record<string, number>>;
    readonly step?: number;
    readonly epoch?: number;
    readonly ctx?: { readonly phase?: string };
  };
}

const read = (name: string) =>
  new Uint8Array(readFileSync(new URL(`../../../examples/data/h200/${name}`, import.meta.url)));
const nan = 987654321.125;

/** A plain reader, independent of ours: length prefixes and JSON.parse, with a number in place of NaN. */
function readPlainly(bytes: Uint8Array): Message[] {
  const buffer = Buffer.from(bytes);
  const messages: Message[] = [];
  for (let at = 0; at < buffer.length; ) {
    const size = buffer.readUInt32BE(at);
    messages.push(JSON.parse(buffer.toString("utf8", at + 4, at + 4 + size).replaceAll(":NaN", `:${nan}`)));
    at += 4 + size;
  }
  return messages;
}

const runOf = ({ p }: Message) => (typeof p.run_id === "string" ? p.run_id : p.run_id.id);

/** Run, sequence number, name, value, step, epoch and phase of every point. */
function pointsOf(messages: readonly Message[]): unknown[][] {
  return messages.flatMap((message) => {
    const { t, m, p } = message;
    const values = t === "metric" ? { [p.key]: p.value } : t === "metric_batch" ? p.metrics : {};
    return Object.entries(values).map(([key, value]) => [
      `default/x/${runOf(message)}`,
      m.seq,
      m.ts * 1000,
      key,
      value === nan ? Number.NaN : value,
      p.step ?? null,
      p.epoch ?? null,
      p.ctx?.phase ?? "",
    ]);
  });
}

function rowPoints(rows: Rows<"metrics">): unknown[][] {
  const whole = (column: Rows<"metrics">["step"], row: number) =>
    column.isNull(row) ? null : Number(column.inner.at(row));
  return Array.from({ length: rows.key.length }, (_, row) => [
    rows.group_key.at(row),
    Number(rows.seq.at(row)),
    Number(rows.ts_ns.at(row)),
    rows.key.at(row),
    rows.value.isNull(row) ? null : rows.value.inner.at(row),
    whole(rows.step, row),
    whole(rows.epoch, row),
    rows.phase.at(row),
  ]);
}

/** The points that intake stores when the file comes in chunks of this size, read back from the journal or not. */
function storedPoints(bytes: Uint8Array, chunkBytes: number, fromJournal: boolean) {
  const state = { groups: new KnownGroups(), faults: new RecentIds() };
  const stream = new XtrackStream();
  const points: unknown[][] = [];
  const counts: Record<string, number> = {};
  let duplicates = 0;
  for (let at = 0, position = 1; at < bytes.length; at += chunkBytes, position++) {
    const chunk = stream.push(bytes.slice(at, at + chunkBytes));
    if (chunk === null) continue;
    const decoded = fromJournal ? decodeXtrack(chunk) : chunk.decoded;
    const meta = {
      workspace: "default",
      receivedNs: 1n,
      position,
      transport: "file",
      runOverride: null,
      imported: true,
    };
    const applied = atOnce(applyXtrack(state, chunk, decoded, meta));
    duplicates += applied.duplicates;
    expect(applied.faults).toEqual([]);
    for (const part of applied.parts) {
      counts[part.table] = (counts[part.table] ?? 0) + part.rows.group_key.length;
      if (part.table === "metrics") points.push(...rowPoints(part.rows));
    }
  }
  stream.finish();
  expect(stream.ending).toBe("clean");
  return { points, counts, duplicates };
}

describe.each([
  ["sweep.xtrack.bin", 6487, 14],
  ["cirron-twin.xtrack.bin", 626, 1],
  ["cirron-full-twin.xtrack.bin", 60, 1],
])("%s", (name, frames, runs) => {
  const bytes = read(name);
  const messages = readPlainly(bytes);
  const expected = pointsOf(messages);

  it("holds what was recorded", () => {
    expect([messages.length, new Set(messages.map(runOf)).size]).toEqual([frames, runs]);
  });

  it.each([
    [65536, false],
    [65536, true],
    [997, false],
    [1 << 24, true],
  ])("is stored value by value, in chunks of %i bytes (from the journal: %s)", (chunkBytes, fromJournal) => {
    const { points, counts, duplicates } = storedPoints(bytes, chunkBytes, fromJournal);
    expectEqual(points, expected);
    expect(duplicates).toBe(0);
    const of = (...types: string[]) => messages.filter(({ t }) => types.includes(t)).length;
    expect(counts).toMatchObject({
      metrics: expected.length,
      params: of("param"),
      logs: of("log"),
      events: of("run_start", "run_end", "status", "checkpoint", "artifact"),
    });
  });
});

it("keeps the points of the run that diverged to NaN", () => {
  const { points } = storedPoints(read("sweep.xtrack.bin"), 65536, false);
  const diverged = points.filter((point) => Number.isNaN(point[4]));
  expect(diverged.length).toBeGreaterThan(0);
  expect(new Set(diverged.map(([group]) => group)).size).toBe(1);
});
