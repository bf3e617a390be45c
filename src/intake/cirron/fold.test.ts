import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StateChange, StateRow } from "#model/state-tables.ts";
import { expectedSessions, type PlainBatch, readSpool, toCirronRows } from "../../../tests/support/cirron-rows.ts";
import { CirronWorkspace } from "./workspace.ts";

const root = join(import.meta.dirname, "../../..");
const spools = {
  http_ok: "tests/fixtures/cirron/http_ok",
  inference: "tests/fixtures/cirron/inference",
  marks: "tests/fixtures/cirron/marks",
  torch_stats: "tests/fixtures/cirron/torch_stats",
};

/** What a collector has stored of a batch: the rows it took, under the key it gave them. */
interface Stored {
  readonly collector: number;
  readonly groupKey: string;
  readonly batch: PlainBatch;
}

/** Two collectors on one store. Each folds what the other has stored when it is told to. */
class Pair {
  readonly groups = new Map<string, StateRow<"groups">>();
  readonly stored: Stored[] = [];
  doubles = 0;
  private readonly workspaces = [0, 1].map(() => new CirronWorkspace("default", 600_000_000_000n));
  private readonly folded = [0, 0];
  private clockNs = 1n;

  take(collector: number, batch: PlainBatch): void {
    const outcome = this.workspace(collector).apply({
      batchId: batch.batch_id,
      contentHash: batch.batch_id,
      rows: toCirronRows(batch),
      source: "folder",
      runOverride: null,
      imported: false,
      receivedNs: this.clockNs++,
    });
    this.write(outcome.changes);
    if (outcome.isRepeat) return;
    const kept = <T>(rows: readonly T[], dropped: Uint8Array | null): T[] =>
      rows.filter((_, at) => dropped?.[at] !== 1);
    const { spans, marks, snapshots } = outcome.dropped;
    const left = {
      batch_id: batch.batch_id,
      spans: kept(batch.spans, spans),
      marks: kept(batch.marks, marks),
      snapshots: kept(batch.snapshots, snapshots),
    };
    this.stored.push({ collector, groupKey: outcome.groupKey, batch: left });
  }

  /** The collector reads what the other stored since it last did. */
  hear(collector: number): void {
    for (; (this.folded[collector] as number) < this.stored.length; (this.folded[collector] as number)++) {
      const { collector: other, groupKey, batch } = this.stored[this.folded[collector] as number] as Stored;
      if (other === collector) continue;
      const workspace = this.workspace(collector);
      const told = this.groups.get(groupKey);
      if (told !== undefined) workspace.map.restore(told);
      const batches = [{ batchId: batch.batch_id, contentHash: batch.batch_id, source: "folder", runOverride: "" }];
      const { changes, ids } = workspace.fold(groupKey, toCirronRows(batch), batches, this.clockNs++);
      this.write(changes);
      this.doubles += ids.spans.length + ids.marks.length + ids.snapshots.length;
      expect(workspace.knows(batch.batch_id, groupKey)).toBe(true);
    }
  }

  /** Distinct rows by session, as a reader finds them. */
  sessions(): { root: string; kind: string; rows: number; run: string }[] {
    const sessions = new Map<string, { kind: string; run: string; ids: Set<unknown> }>();
    for (const { groupKey, batch } of this.stored) {
      const group = this.groups.get(groupKey) as StateRow<"groups">;
      const session = sessions.get(group.session_id) ?? { kind: group.root_kind, run: group.run_id, ids: new Set() };
      sessions.set(group.session_id, session);
      for (const row of [...batch.spans, ...batch.marks, ...batch.snapshots]) session.ids.add(row["id"]);
    }
    return [...sessions]
      .map(([id, { kind, run, ids }]) => ({ root: id, kind, rows: ids.size, run }))
      .sort((a, b) => b.rows - a.rows || (a.root < b.root ? -1 : 1));
  }

  private workspace(collector: number): CirronWorkspace {
    return this.workspaces[collector] as CirronWorkspace;
  }

  private write(changes: readonly StateChange[]): void {
    for (const change of changes) if (change.table === "groups") this.groups.set(change.row.group_key, change.row);
  }
}

describe("two collectors that hear of each other", () => {
  test.each(Object.entries(spools))("end with the sessions of %s, however its batches are spread", (_, folder) => {
    const batches = readSpool(join(root, folder, ".cirron/spool"));
    const expected = expectedSessions(join(root, folder));
    const at = fc.nat({ max: batches.length - 1 });
    // A batch goes to one collector or to both, and now and then one of them hears.
    const step = fc.record({ at, to: fc.constantFrom([0], [1], [0, 1]), hears: fc.constantFrom(null, 0, 1) });
    const rest = fc.constantFrom(0, 1);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), rest, (steps, last) => {
        const pair = new Pair();
        for (const { at: picked, to, hears } of steps) {
          for (const collector of to) pair.take(collector, batches[picked] as PlainBatch);
          if (hears !== null) pair.hear(hears);
        }
        const seen = new Set(steps.map(({ at: picked }) => picked));
        for (const [index, batch] of batches.entries()) if (!seen.has(index)) pair.take(last, batch);
        for (let round = 0; round < 3; round++) for (const collector of [0, 1]) pair.hear(collector);
        expect(pair.sessions()).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  });

  test("tell which rows both have taken", () => {
    const [batch] = readSpool(join(root, spools.marks, ".cirron/spool")) as [PlainBatch];
    const pair = new Pair();
    pair.take(0, batch);
    pair.hear(1);
    pair.take(1, batch);
    expect([pair.stored.length, pair.doubles]).toEqual([1, 0]);
    const apart = new Pair();
    apart.take(0, batch);
    apart.take(1, batch);
    apart.hear(1);
    const rows = batch.spans.length + batch.marks.length + batch.snapshots.length;
    expect([apart.stored.length, apart.doubles]).toEqual([2, rows]);
  });
});
