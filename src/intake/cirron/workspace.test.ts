import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { atOnce } from "#base/turns.ts";
import type { StateChange, StateRow } from "#model/state-tables.ts";
import { expectedSessions, type PlainBatch, readSpool, toCirronRows } from "../../../tests/support/cirron-rows.ts";
import { type CirronOutcome, CirronWorkspace } from "./workspace.ts";

const minuteNs = 60_000_000_000n;
const root = join(import.meta.dirname, "../../..");
const spools = {
  http_ok: "tests/fixtures/cirron/http_ok",
  inference: "tests/fixtures/cirron/inference",
  marks: "tests/fixtures/cirron/marks",
  torch_full: "tests/fixtures/cirron/torch_full",
  torch_stats: "tests/fixtures/cirron/torch_stats",
  h200_full: "examples/data/h200/cirron-full",
  h200_stats: "examples/data/h200/cirron-stats",
};

/** Applies batches and keeps what the store would hold: the rows by group, and the newest mapping. */
class Reader {
  readonly workspace = new CirronWorkspace("default", 10n * minuteNs);
  readonly groups = new Map<string, StateRow<"groups">>();
  readonly aliases = new Map<string, Set<string>>();
  readonly rows = new Map<string, number>();
  duplicates = 0;
  faults = 0;

  add(batch: PlainBatch, source = "folder"): CirronOutcome {
    const rows = toCirronRows(batch);
    const contentHash = JSON.stringify(batch, (_, value) => (typeof value === "bigint" ? value.toString() : value));
    const batchId = batch.batch_id;
    const arrival = { source, runOverride: null, imported: false, receivedNs: 1n, position: 1 };
    const outcome = atOnce(this.workspace.apply({ batchId, contentHash, rows, ...arrival }));
    this.fold(outcome.changes);
    this.duplicates += outcome.duplicates;
    this.faults += outcome.faults.length;
    if (!outcome.isRepeat) this.rows.set(outcome.groupKey, (this.rows.get(outcome.groupKey) ?? 0) + outcome.accepted);
    return outcome;
  }

  fold(changes: readonly StateChange[]): void {
    for (const change of changes) {
      if (change.table === "groups") this.groups.set(change.row.group_key, change.row);
      if (change.table === "aliases")
        this.aliases.set(change.row.alias, (this.aliases.get(change.row.alias) ?? new Set()).add(change.row.group_key));
    }
  }

  /** Rows by session, biggest first. */
  sessions(): { root: string; kind: string; rows: number; run: string }[] {
    const sessions = new Map<string, { root: string; kind: string; rows: number; run: string }>();
    for (const [key, rows] of this.rows) {
      const group = this.groups.get(key);
      if (group === undefined) throw new Error(`${key} has no session`);
      const session = sessions.get(group.session_id);
      if (session !== undefined) session.rows += rows;
      else sessions.set(group.session_id, { root: group.session_id, kind: group.root_kind, rows, run: group.run_id });
    }
    return [...sessions.values()].sort((a, b) => b.rows - a.rows || (a.root < b.root ? -1 : 1));
  }
}

describe("grouping Cirron rows into sessions", () => {
  test.each(Object.entries(spools))("groups the %s spool as it really ran [CT-33]", (_, folder) => {
    const reader = new Reader();
    for (const batch of readSpool(join(root, folder, ".cirron/spool"))) reader.add(batch);
    expect(reader.sessions()).toEqual(expectedSessions(join(root, folder)));
    expect(reader.faults).toBe(0);
  });

  test.each(Object.entries(spools))("ends the same for %s in any order, repeated or split", (_, folder) => {
    const batches = readSpool(join(root, folder, ".cirron/spool"));
    const expected = expectedSessions(join(root, folder));
    const order = fc.shuffledSubarray([...batches.keys(), ...batches.keys()], { minLength: batches.length });
    fc.assert(
      fc.property(order, (picked) => {
        const reader = new Reader();
        for (const at of new Set([...picked, ...batches.keys()])) reader.add(batches[at] as PlainBatch);
        for (const at of picked) reader.add(batches[at] as PlainBatch);
        expect(reader.sessions()).toEqual(expected);
      }),
      { numRuns: 15 },
    );
  });

  test("knows a row that comes again under another batch id, and marks the trace as forked", () => {
    const [batch] = readSpool(join(root, spools.torch_stats, ".cirron/spool")) as [PlainBatch];
    const reader = new Reader();
    reader.add(batch);
    const again = reader.add({ ...batch, batch_id: "f".repeat(32) });
    expect(again.accepted).toBe(0);
    expect(again.duplicates).toBe(batch.spans.length + batch.marks.length + batch.snapshots.length);
    expect(again.faults).toEqual([]);
    expect([...reader.groups.values()].map((group) => group.forked)).toEqual([1]);
  });

  test("keeps the first of two contents under one id and says so", () => {
    const [batch] = readSpool(join(root, spools.torch_stats, ".cirron/spool")) as [PlainBatch];
    const reader = new Reader();
    reader.add(batch);
    const changed = { ...batch, spans: batch.spans.map((span, at) => (at === 1 ? { ...span, name: "other" } : span)) };
    const outcome = reader.add(changed);
    expect(outcome.faults.map((fault) => fault.code)).toEqual(["batch_id_reused", "identity_conflict"]);
    expect(outcome.faults[1]?.place).toEqual({ pointer: "/spans/1" });
    expect(outcome.accepted).toBe(0);
  });

  test("a batch id that comes again with more rows gives the new rows and a fault [CT-29]", () => {
    const [batch] = readSpool(join(root, spools.torch_stats, ".cirron/spool")) as [PlainBatch];
    const reader = new Reader();
    reader.add({ ...batch, spans: batch.spans.slice(0, 5) });
    const outcome = reader.add(batch);
    expect(outcome.accepted).toBe(batch.spans.length - 5);
    expect(outcome.faults.map((fault) => fault.code)).toEqual(["batch_id_reused"]);
    // The rows of both copies stand under the key of the first, which must stay known.
    expect(outcome.groupKey).toBe(`default/c/${batch.batch_id}`);
    expect([...reader.groups.keys()]).toEqual([outcome.groupKey]);
  });
});

const second = 1_000_000_000;

function span(id: string, parent: string | null, more: Record<string, unknown> = {}) {
  const at = (more["at"] as number | undefined) ?? 0;
  return {
    id: id.padEnd(32, "0"),
    parent_id: parent === null ? null : parent.padEnd(32, "0"),
    name: "step",
    index: null,
    start_ns: at * second,
    end_ns: (at + 1) * second,
    thread_id: 7,
    pid: 1,
    rank: 0,
    attrs: {},
    ...more,
  };
}

function batch(id: string, spans: ReturnType<typeof span>[], marks: Record<string, unknown>[] = []): PlainBatch {
  return { batch_id: id.padEnd(32, "0"), spans, marks, snapshots: [] };
}

describe("joining components of one process", () => {
  test("a late session span proves two joined groups apart", () => {
    const reader = new Reader();
    reader.add(batch("b1", [span("a1", null, { name: "request" })]));
    reader.add(batch("b2", [span("a2", null, { name: "request", at: 20 })]));
    expect(reader.sessions()).toHaveLength(1);
    reader.add(batch("b1s", [span("51", null, { name: "cirron.session", at: -5 }), span("a3", "51", { at: -4 })]));
    reader.add(batch("b3", [span("a4", null, { name: "request", at: 21 })]));
    reader.add(
      batch("b4", [span("52", null, { name: "cirron.session", at: 22 }), span("a1", null, { name: "request" })]),
    );
    const sessions = reader.sessions();
    expect(sessions.map((session) => session.kind)).toEqual(["session", "session"]);
  });

  test("containers that all run as pid 1 are told apart by their threads", () => {
    const reader = new Reader();
    reader.add(batch("b1", [span("a1", "e1", { thread_id: 1 })]));
    reader.add(batch("b2", [span("a2", "e2", { thread_id: 2, at: 5 })]));
    expect(reader.sessions()).toHaveLength(2);
    reader.add(batch("b3", [span("a3", "e3", { thread_id: 1, at: 6 })]));
    expect(reader.sessions()).toHaveLength(2);
  });

  /** The session of each batch, when they come in this order. */
  function sessionsOf(batches: readonly PlainBatch[]): Map<string, string | undefined> {
    const reader = new Reader();
    const keys = batches.map((one) => [one.batch_id, reader.add(one).groupKey] as const).sort();
    return new Map(keys.map(([id, key]) => [id, reader.groups.get(key)?.session_id]));
  }

  test.each([
    { thread: 2, title: "of processes with one number that run at one time, the one with the same thread is meant" },
    { thread: 3, title: "of processes with one number and other threads the same one is meant in any order" },
  ])("$title", ({ thread, title }) => {
    for (const [first, other, request] of ["abc", "acb", "bac", "bca", "cab", "cba"]) {
      const batches = [
        batch("b1", [span(`${first}e`, `${first}5`, { name: "epoch", at: 1, thread_id: 1 })]),
        batch("b2", [span(`${first}5`, null, { name: "cirron.session", end_ns: 90 * second, thread_id: 1 })]),
        batch("b3", [span(`${other}5`, null, { name: "cirron.session", end_ns: 90 * second, thread_id: 2 })]),
        batch("b4", [span(`${request}d`, null, { name: "request", at: 10, thread_id: thread })]),
      ];
      const inOrder = sessionsOf(batches);
      expect(new Set(inOrder.values()).size, title).toBe(2);
      if (thread === 2) expect(inOrder.get(batches[3]?.batch_id ?? "")).toBe(`${other}5`.padEnd(32, "0"));
      fc.assert(
        fc.property(fc.shuffledSubarray(batches, { minLength: batches.length }), (order) => {
          expect(sessionsOf(order)).toEqual(inOrder);
        }),
        { numRuns: 24 },
      );
    }
  });

  test("a session span that comes last parts those that were taken for one process with it", () => {
    const batches = [
      batch("b1", [span("a1", "e2", { thread_id: 3 })]),
      batch("b2", [span("c1", "51", { thread_id: 3 })]),
      batch("b3", [span("51", null, { name: "cirron.session", at: 60 })]),
    ];
    expect(new Set(sessionsOf(batches.slice(0, 2)).values()).size).toBe(1);
    expect([...sessionsOf(batches).values()]).toEqual(["e2", "51", "51"].map((id) => id.padEnd(32, "0")));
    expect(sessionsOf(batches)).toEqual(sessionsOf(batches.toReversed()));
  });

  test("whatever came of processes that look alike, the order changes no session", () => {
    const ids = ["a", "b", "c", "d", "e", "f", "0", "1", "2"];
    const row = fc.record({
      parent: fc.option(fc.constantFrom(...ids), { freq: 2 }),
      isSession: fc.boolean(),
      at: fc.integer({ min: 0, max: 30 }),
      lasts: fc.integer({ min: 0, max: 30 }),
      thread: fc.integer({ min: 1, max: 3 }),
      pid: fc.constantFrom(1, 1, 1, 2),
    });
    const world = fc.array(row, { minLength: 2, maxLength: ids.length }).map((rows) =>
      rows.map(({ parent, isSession, at, lasts, thread, pid }, n) => {
        const id = ids[n] as string;
        const name = isSession && parent === null ? "cirron.session" : "step";
        const times = { at: at * 60, end_ns: (at + lasts) * 60 * second };
        return batch(`b${n}`, [span(id, parent === id ? null : parent, { name, thread_id: thread, pid, ...times })]);
      }),
    );
    const twoOrders = world.chain((batches) =>
      fc.tuple(fc.constant(batches), fc.shuffledSubarray(batches, { minLength: batches.length })),
    );
    fc.assert(
      fc.property(twoOrders, ([batches, order]) => {
        expect(sessionsOf(order)).toEqual(sessionsOf(batches));
      }),
      { numRuns: 500 },
    );
  });

  test("what was sent to runs of different names is never joined, in any order [CT-37]", () => {
    const named = [
      ["b1", "x", batch("b1", [span("a1", null, { name: "request" })])],
      ["b2", "y", batch("b2", [span("a2", null, { name: "request" })])],
      ["b3", null, batch("b3", [span("51", null, { name: "cirron.session", attrs: { "cirron.run_id": "z" } })])],
      ["b4", "x", batch("b4", [span("a3", null, { name: "request" })])],
      [
        "b5",
        "y",
        batch(
          "b5",
          [],
          [{ id: "m1".padEnd(32, "0"), span_id: "root", name: "n", value_type: "int", value: 1, ts_ns: 1 }],
        ),
      ],
    ] as const;
    for (const order of [named, named.toReversed()]) {
      const reader = new Reader();
      for (const [batchId, runOverride, one] of order) {
        const arrival = { batchId, contentHash: "", rows: toCirronRows(one), source: "folder", imported: false };
        reader.fold(atOnce(reader.workspace.apply({ ...arrival, runOverride, receivedNs: 1n, position: 1 })).changes);
      }
      const runs = [...reader.groups.values()].map((row) => [row.group_key, row.run_id]).sort();
      expect(runs.map(([, run]) => run)).toEqual(["x", "y", "z", "x", "y"]);
    }
  });

  test("a shared thread bridges a gap that is longer than usual", () => {
    const reader = new Reader();
    reader.add(batch("b1", [span("a1", "e1")]));
    reader.add(batch("b2", [span("a2", "e2", { at: 30 * 60 })]));
    reader.add(batch("b3", [span("a3", "e3", { at: 5 * 3600 })]));
    expect(reader.sessions()).toHaveLength(2);
  });

  test("other sources, pids and ranks are other processes", () => {
    const reader = new Reader();
    reader.add(batch("b1", [span("a1", null)]));
    reader.add(batch("b2", [span("a2", null, { pid: 2 })]));
    reader.add(batch("b3", [span("a3", null, { rank: 1 })]));
    reader.add(batch("b4", [span("a4", null)]), "another key");
    expect(reader.sessions()).toHaveLength(4);
  });

  test("marks outside every session stay outside when two sessions are near [CT-11]", () => {
    const mark = { id: "d".repeat(32), span_id: "root", name: "m", value_type: "int", value: 1, attrs: {}, ts_ns: 0 };
    const reader = new Reader();
    reader.add(batch("b0", [], [mark]));
    expect(reader.sessions()).toEqual([{ root: `c-${mark.id}`, kind: "none", rows: 1, run: `c-${mark.id}` }]);
    reader.add(batch("b1", [span("a1", null)]));
    expect(reader.sessions()).toHaveLength(1);
    reader.add(batch("b2", [span("a2", null, { pid: 2 })]));
    expect(reader.sessions()).toHaveLength(3);
  });

  test("the best guess of a root changes as batches stream in, and every earlier one stays an alias", () => {
    const reader = new Reader();
    reader.add(batch("b1", [span("a1", "e1"), span("a2", "e1")]));
    const guess = reader.sessions()[0]?.root as string;
    expect(guess).toBe("e1".padEnd(32, "0"));
    reader.add(batch("b2", [span("e1", "51", { name: "epoch" })]));
    expect(reader.sessions()[0]?.root).toBe("51".padEnd(32, "0"));
    expect(reader.aliases.has(guess)).toBe(true);
  });

  test("spans that name each other as parent are kept and end", () => {
    const reader = new Reader();
    reader.add(batch("b1", [span("a1", "a2"), span("a2", "a1"), span("a3", "a3")]));
    expect(reader.sessions().map((session) => session.rows)).toEqual([3]);
  });

  test("the run is the one named by the path, then by the session span, then the session [CT-37]", () => {
    const reader = new Reader();
    const attrs = { "cirron.run_id": "run-7", "cirron.pipeline_id": "p", "cirron.deployment_id": "d" };
    reader.add(batch("b1", [span("51", null, { name: "cirron.session", attrs })]));
    const [group] = [...reader.groups.values()];
    expect(group).toMatchObject({ run_id: "run-7", pipeline_id: "p", deployment_id: "d", model_id: null });
    const rows = toCirronRows(batch("b2", [span("a1", "51")]));
    const named = {
      batchId: "b2",
      contentHash: "",
      rows,
      source: "folder",
      imported: false,
      receivedNs: 2n,
      position: 1,
    };
    reader.fold(atOnce(reader.workspace.apply({ ...named, runOverride: "named" })).changes);
    expect([...reader.groups.values()].map((row) => row.run_id)).toEqual(["named"]);
    expect(reader.aliases.has("run-7")).toBe(true);
  });
});
