import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { atOnce } from "#base/turns.ts";
import type { ArrivedAt } from "#intake/input.ts";
import { defaultIntakeLimits, IntakeState, type KnownRecords } from "#intake/intake-state.ts";
import type { IntakeStore } from "#intake/intake-store.ts";
import { KnownGroups, LoadingGroup } from "#intake/known-groups.ts";
import { RecentIds } from "#intake/recent-ids.ts";
import type { AnyTablePart } from "#model/batch.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { decodeXtrack, type XtrackRecord, XtrackStream } from "#wire/xtrack/stream.ts";
import { frameOf, join } from "#wire/xtrack/stream-cases.testing.ts";
import { applyXtrack } from "./apply.ts";
import { toGroupKey } from "./group-keys.ts";

const newState = (): KnownRecords => ({
  groups: new KnownGroups(),
  faults: new RecentIds(),
});
const meta = (position = 1): ArrivedAt => ({
  workspace: "default",
  receivedNs: 1_000_000_000n,
  position,
  transport: "tcp",
  runOverride: null,
  imported: false,
});
const metric = (seq: number, ts = seq * 10, value = seq, run = "r", wid = "") =>
  encodeFrame("metric", { seq, ts, wid }, { run_id: run, key: "k", value });
const start = (run: string, ts: number, wid = "") => encodeFrame("run_start", { seq: 1, ts, wid }, { run_id: run });
const record = (body: Uint8Array): XtrackRecord => ({ body, offset: 0, currentRun: null, file: "" });

const apply = (state: KnownRecords, body: Uint8Array, position = 1) =>
  atOnce(applyXtrack(state, record(body), decodeXtrack(record(body)), meta(position)));

/** Kept rows as plain objects; every column of every table must have the same length. */
function rowsOf(parts: readonly AnyTablePart[], table: string): Record<string, unknown>[] {
  return parts
    .filter((part) => part.table === table)
    .flatMap(({ rows, dropped }) => {
      const columns = Object.entries(rows as object) as [string, Readable][];
      const lengths = new Set(columns.map(([, column]) => column.length));
      expect(lengths.size).toBe(1);
      return Array.from({ length: [...lengths][0] as number }, (_, i) => i)
        .filter((i) => dropped === null || dropped[i] === 0)
        .map((i) => Object.fromEntries(columns.map(([name, column]) => [name, cell(column, i)])));
    });
}

interface Readable {
  readonly length: number;
  readonly inner?: { at(row: number): unknown };
  at(row: number): unknown;
  isNull?(row: number): boolean;
}

function cell(column: Readable, row: number): unknown {
  if (column.inner === undefined) return column.at(row);
  return column.isNull?.(row) ? null : column.inner.at(row);
}

describe("applyXtrack", () => {
  it("fills every column of a metric row", () => {
    const frame = encodeFrame(
      "metric",
      { seq: 7, ts: 1703123456789000, wid: "w1" },
      { run_id: "r", key: "loss", value: 0.5, step: 3, ctx: { phase: "val", agg: "mean" } },
    );
    const { parts, accepted, state } = apply(newState(), frame, 42);
    expect(rowsOf(parts, "metrics")).toEqual([
      {
        group_key: "default/x/r",
        key: "loss",
        worker: "w1",
        phase: "val",
        step: 3n,
        step_text: "",
        epoch: null,
        ts_ns: 1703123456789000000n,
        value: 0.5,
        value_text: "",
        source: "xtrack",
        seq: 7n,
        entry: -1,
        mark_id: "",
        span_id: "",
        ctx: '{"agg":"mean"}',
        received_ns: 1_000_000_000n,
        jpos: 42n,
        jrow: 0,
        flags: 0,
        extra: "",
        raw: "",
      },
    ]);
    expect(accepted).toBe(1);
    expect(state.map((change) => change.table)).toEqual(["groups", "aliases"]);
  });

  it("fills every column of every table from the recorded events", () => {
    const stream = new XtrackStream();
    const file = readFileSync(new URL("../../../tests/fixtures/xtrack/file_full/events.bin", import.meta.url));
    const chunk = stream.push(new Uint8Array(file));
    if (chunk === null) throw new Error("no chunk");
    const applied = atOnce(applyXtrack(newState(), chunk, chunk.decoded, meta()));
    const counts = Object.fromEntries(
      applied.parts.map((part) => [part.table, rowsOf(applied.parts, part.table).length]),
    );
    const lines = readFileSync(
      new URL("../../../tests/fixtures/xtrack/file_full/events.ndjson", import.meta.url),
      "utf8",
    );
    expect(applied).toMatchObject({ accepted: 318, duplicates: 0, faults: [] });
    expect(counts).toMatchObject({ params: 14, logs: 3, events: 9 + 17 + 4 + 4 + 8 + 1 });
    expect(countMetrics(lines)).toBe(270);
    expect(counts["metrics"]).toBe(270);
  });

  it("ignores a duplicate sequence number with its time, counts it, and says so in the range [XT-07]", () => {
    const state = newState();
    apply(state, join(start("r", 5), metric(2), metric(3)));
    const again = apply(state, join(metric(2), metric(3), metric(4)), 2);
    expect(again).toMatchObject({ accepted: 1, duplicates: 2, faults: [] });
    expect(rowsOf(again.parts, "metrics").map((row) => row["seq"])).toEqual([4n]);
    expect(rowsOf(again.parts, "seq_ranges")).toMatchObject([
      { first_seq: 2n, last_seq: 2n, events: 0, duplicates: 2 },
      { first_seq: 4n, last_seq: 4n, events: 1, duplicates: 0 },
    ]);
  });

  it("keeps the same number with another time, so that a resumed run loses nothing", () => {
    const state = newState();
    apply(state, join(start("r", 5), metric(2)));
    expect(apply(state, join(start("r", 500), metric(2, 510)), 2)).toMatchObject({ accepted: 2, duplicates: 0 });
  });

  it("keeps the first of two contents with one identity and makes a fault of the other", () => {
    const state = newState();
    apply(state, metric(2, 20, 1));
    const { parts, faults, accepted } = apply(state, join(metric(1), metric(2, 20, 9)), 2);
    expect(accepted).toBe(1);
    expect(faults).toMatchObject([{ code: "identity_conflict", place: { offset: metric(1).length } }]);
    expect(rowsOf(parts, "faults")).toMatchObject([
      {
        group_key: "default/x/r",
        code: "identity_conflict",
        protocol: "xtrack",
        transport: "tcp",
        raw: Buffer.from(metric(2, 20, 9).subarray(4)).toString(),
      },
    ]);
  });

  it("keeps workers apart: the same number and time of two workers are two events [XT-08]", () => {
    expect(apply(newState(), join(metric(1, 1, 1, "r", "a"), metric(1, 1, 1, "r", "b")))).toMatchObject({
      accepted: 2,
      duplicates: 0,
    });
  });

  it("folds neighbours into ranges that end at gaps, at restarts and where time runs backwards [XT-07]", () => {
    const body = join(
      start("r", 5),
      metric(2),
      metric(3),
      metric(7),
      metric(8),
      start("r", 900),
      metric(2, 910),
      metric(3, 905),
    );
    const { parts } = apply(newState(), body);
    expect(
      rowsOf(parts, "seq_ranges").map(({ first_seq, last_seq, first_ts_ns, last_ts_ns, events }) => [
        first_seq,
        last_seq,
        first_ts_ns,
        last_ts_ns,
        events,
      ]),
    ).toEqual([
      [1n, 3n, 5_000n, 30_000n, 3],
      [7n, 8n, 70_000n, 80_000n, 2],
      [1n, 2n, 900_000n, 910_000n, 2],
      [3n, 3n, 905_000n, 905_000n, 1],
    ]);
  });

  it("stores no part of a batch that came twice [XT-13]", () => {
    const state = newState();
    const batch = encodeFrame("metric_batch", { seq: 1, ts: 1 }, { run_id: "r", metrics: { a: 1, b: 2, c: 3 } });
    expect(rowsOf(apply(state, join(metric(5), batch)).parts, "metrics")).toHaveLength(4);
    expect(rowsOf(apply(state, join(batch, metric(6)), 2).parts, "metrics")).toMatchObject([{ seq: 6n }]);
  });

  it("keeps faults once, with the run they belong to", () => {
    const state = newState();
    const bad = frameOf('{"v":2,"t":"metric","m":{"seq":9,"ts":1},"p":{"run_id":"r"}}');
    expect(rowsOf(apply(state, bad).parts, "faults")).toMatchObject([
      { group_key: "default/x/r", code: "xtrack_version", blast: "message" },
    ]);
    const again = apply(state, bad, 2);
    expect(rowsOf(again.parts, "faults")).toEqual([]);
    expect(again.faults).toHaveLength(1);
  });

  it("counts a worker's acks apart from its events and stores those of no run nowhere", () => {
    const ack = encodeFrame("ack", { seq: 1, ts: 5 }, { seq: 4, status: "ok", cmd_id: "c" });
    const { parts, accepted } = apply(newState(), join(ack, start("r", 5), ack));
    expect(accepted).toBe(2);
    expect(rowsOf(parts, "events").map((row) => [row["group_key"], row["type"]])).toEqual([
      ["default/x/r", "run_start"],
      ["default/x/r", "ack"],
    ]);
    expect(rowsOf(parts, "seq_ranges")).toHaveLength(1);
  });

  it("gives the run another name without changing its group", () => {
    const body = metric(1);
    const { state, parts } = atOnce(
      applyXtrack(newState(), record(body), decodeXtrack(record(body)), { ...meta(), runOverride: "named" }),
    );
    expect(rowsOf(parts, "metrics")).toMatchObject([{ group_key: "default/x/r" }]);
    expect(
      state.map(({ table, row }) => [table, "run_id" in row ? row.run_id : "alias" in row ? row.alias : ""]),
    ).toEqual([
      ["groups", "named"],
      ["aliases", "named"],
      ["aliases", "r"],
    ]);
  });
});

it("knows the events of a group that it let go, when what the store holds of it is loaded", () => {
  const state = newState();
  const key = toGroupKey("default", "r");
  const body = metric(1);
  apply(state, body, 3);
  expect(state.groups.shrink(0, 3)).toBe(1);
  expect(state.groups.isMissing(key)).toBe(true);
  const loading = new LoadingGroup();
  loading.event("", 1, 0, 10_000, 0);
  state.groups.load(key, null, loading);
  expect(apply(state, body, 4)).toMatchObject({ accepted: 0, duplicates: 1 });
  state.groups.forget(key);
  state.groups.load(key, null, new LoadingGroup());
  expect(apply(state, body, 5)).toMatchObject({ accepted: 1 });
});

it("keeps of a quiet server's groups those that were touched last, and asks for the others", () => {
  const limits = { ...defaultIntakeLimits, groupBytesMax: 5 * 1024 * 1024 };
  // Memory knows everything here, so the store is asked nothing.
  const state = new IntakeState({ store: {} as IntakeStore, sessionGapNs: 0n, isFresh: true, limits });
  const keys = Array.from({ length: 10 }, (_, n) => toGroupKey("default", `r${n}`));
  for (const [n, key] of keys.entries()) {
    const events = state.groups.eventsOf(key, "", n + 1);
    for (let seq = 0; seq < 30_000; seq++) events.add(seq, 0, seq, 0, 7);
  }
  const missing = () => keys.filter((key) => state.groups.isMissing(key));
  state.shrink(10, 10, 0n);
  expect(missing()).toEqual([]);
  state.shrink(10, 10, 0n, "tight");
  const goneFirst = missing();
  expect(goneFirst.length).toBeGreaterThan(0);
  state.shrink(10, 10, 0n, "rest");
  const gone = missing();
  expect(gone.length).toBeGreaterThan(goneFirst.length);
  expect(gone).toEqual(keys.slice(0, gone.length));
});

it("ends in the same rows for any order, repetition and chunking of the same events", () => {
  const frames = [
    start("r", 1, "a"),
    start("r", 2, "b"),
    ...[2, 3, 4, 5, 6].flatMap((seq) => [metric(seq, seq * 10, seq, "r", "a"), metric(seq, seq * 11, seq, "r", "b")]),
  ];
  const key = (row: Record<string, unknown>) =>
    `${row["worker"]} ${row["seq"]} ${row["ts_ns"]} ${row["value"] ?? row["type"]}`;
  const stored = (order: readonly Uint8Array[], cut: number) => {
    const state = newState();
    const bodies = [join(...order.slice(0, cut)), join(...order.slice(cut))];
    const parts = bodies.flatMap((body, i) => apply(state, body, i + 1).parts);
    return [...rowsOf(parts, "metrics"), ...rowsOf(parts, "events")].map(key).sort();
  };
  const expected = stored(frames, 0);
  fc.assert(
    fc.property(
      fc.shuffledSubarray([...frames, ...frames], { minLength: frames.length * 2 }),
      fc.nat(24),
      (order, cut) => {
        expect(stored(order, cut)).toEqual(expected);
      },
    ),
    { numRuns: 60 },
  );
});

function countMetrics(lines: string): number {
  return lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line.replaceAll(/:(NaN|-?Infinity)/g, ":0")))
    .reduce(
      (sum, { t, p }) => sum + (t === "metric" ? 1 : t === "metric_batch" ? Object.keys(p.metrics).length : 0),
      0,
    );
}
