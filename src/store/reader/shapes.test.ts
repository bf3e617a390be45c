// Every question beside the shape that is declared for its rows. The store has none, so each question is described by
// the engine, and what is read is one row of its columns' types.

import { describe, expect, test } from "vitest";
import { readGuestColumns } from "#store/sql-guard/user-sql.ts";
import type { Query, Store } from "#store/store.ts";
import { askStore } from "../../../tests/support/ask-store.ts";
import { storesUnderTest, suiteStore } from "../../../tests/support/store-under-test.ts";
import * as admin from "./admin.ts";
import { readViews } from "./admin.ts";
import * as blobs from "./blobs.ts";
import * as cells from "./cells.ts";
import * as compare from "./compare.ts";
import * as exported from "./export-records.ts";
import { streamSlices } from "./export-tables.ts";
import { readMissing } from "./group-facts.ts";
import * as heads from "./heads.ts";
import { readJoins } from "./joins.ts";
import * as launches from "./launches.ts";
import { readMembers } from "./members.ts";
import { readMetrics } from "./metrics.ts";
import { readNewestRuns } from "./newest-runs.ts";
import * as pipelines from "./pipelines.ts";
import * as points from "./points.ts";
import * as recordRows from "./record-rows.ts";
import * as records from "./records.ts";
import * as details from "./run-details.ts";
import { readRunFacts } from "./run-facts.ts";
import * as names from "./run-names.ts";
import * as sequences from "./sequences.ts";
import * as snapshots from "./snapshots.ts";
import * as span from "./span.ts";
import { readSpanSummary } from "./span-summary.ts";
import * as timeline from "./timeline.ts";
import * as whole from "./whole-tables.ts";
import { readStateEvents } from "./xtrack-state.ts";

const placeAt = (jpos: string) => ({ received_ns: jpos, collector: "c", jpos });
const groups = ["w/x/a", "w/s/b", "w/w/c", "w/c/d"];
const everything = { workspace: "w" };
const some = { workspace: "w", groupKeys: groups };
const window = { groups, fromNs: 1n, toNs: 2n };
const page = { ...window, limit: 10, after: null };
const range = { groups, after: 0n, last: 9n };
const faults = { ...page, workspace: "w", codes: ["c"], protocol: "p" };
const logs = {
  ...page,
  levels: ["l"],
  text: "x",
  workers: ["w"],
  stream: "s",
  descending: true,
  chars: null,
};
const filter = { ...page, types: ["t"], protocol: "p", worker: "w", text: "x", descending: false };
const marks = { groups, keys: ["k"], kind: "places" } as const;

const compared = [{ groupKey: "w/x/a", run: "a" }];

async function drain(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const _row of rows);
}

const questions: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  audit: (store) => admin.readAudit(store, "w", 10, ["1", "a", "b"]),
  settings: (store) => admin.readSettings(store, "s"),
  workspaces: (store) => admin.readWorkspaces(store),
  "blob key": (store) => blobs.readBlobKey(store, "w", ["s"], "k"),
  "stored files": (store) => blobs.readStoredFiles(store, "w", ["r"]),
  "blobs of spans": (store) => blobs.readBlobsOfSpans(store, "w", ["s"]),
  "tensor of a snapshot": (store) => blobs.readTensorOfSnapshot(store, "w", "s", "n"),
  "params of all runs": (store) => cells.readParamCells(store, everything, "lr"),
  "all params of a run": (store) => cells.readParamCells(store, some, null),
  "first points": (store) => cells.readMetricCells(store, everything, "loss", "first"),
  "least points": (store) => cells.readMetricCells(store, some, "loss", "min"),
  "counts of points": (store) => cells.readMetricCounts(store, some, ["loss"]),
  "compared metrics": (store) => compare.readComparedMetrics(store, compared),
  "compared spans": (store) => compare.readComparedSpans(store, compared),
  "compared tensors": (store) => compare.readComparedTensors(store, compared),
  "start texts": (store) => compare.readStartTexts(store, compared),
  batches: (store) => exported.readBatches(store, groups),
  "batch records": (store) => exported.readBatchRecords(store, groups),
  "kept faults": (store) => drain(exported.streamKeptFaults(store, groups, 10)),
  "command steps": (store) => exported.readCommandSteps(store, "w", ["r"]),
  "files of a run": (store) => exported.readFilesOfRun(store, { workspace: "w", groups, run: "r" }),
  "launch groups": (store) => exported.readLaunchGroups(store, "w"),
  "launches of runs": (store) => exported.readLaunchesOf(store, groups),
  "what is beside records": (store) => exported.readBeside(store, { workspace: "w", groups, runs: ["r"] }),
  joins: (store) => readJoins(store),
  "joins to a run": (store) => readJoins(store, { workspace: "w", runs: ["r"] }),
  "saved views": (store) => readViews(store, "w", "me", null),
  "saved views of a page": (store) => readViews(store, "w", "me", "runs"),
  slices: (store) => drain(streamSlices(store, groups)),
  "missing events": readMissing,
  wrappers: (store) => heads.readWrappers(store, everything),
  "all runs": (store) => readRunFacts(store, everything),
  "some runs": (store) => readRunFacts(store, some),
  launches: (store) =>
    launches.readLaunches(store, { ...everything, limit: 10, after: { startNs: 1n, launchKey: "k" } }),
  launch: (store) => launches.readLaunch(store, "w/l/a/1"),
  "launch starts": (store) => launches.readLaunchStarts(store, ["w/l/a/1"]),
  attempts: (store) => launches.readAttempts(store, "w", ["a"]),
  members: (store) => readMembers(store, "w/l/a/1"),
  "newest runs": (store) => readNewestRuns(store, "w", "hide", 10),
  metrics: (store) => readMetrics(store, [{ groupKey: "w/c/d", rank: 0 }]),
  completeness: (store) => pipelines.readCompleteness(store, everything.workspace),
  lifecycle: (store) => pipelines.readLifecycle(store, groups),
  nodes: (store) => pipelines.readNodes(store, groups),
  payloads: (store) => pipelines.readPayloads(store, groups, ["e"]),
  clocks: (store) => pipelines.readClocks(store, groups),
  "points' parts": (store) => points.readPointParts(store, marks),
  "points' state": (store) => points.readPointState(store, marks, [0n, 0n, 0n, 0n]),
  points: (store) => drain(points.readPointBlocks(store, marks, { after: [1n, 1n, 1n, 1n], last: 9n })),
  "first time": (store) => points.readFirstTime(store, groups),
  "a page of records": (store) => recordRows.readRecordPage(store, filter),
  "record types": (store) => recordRows.readRecordTypes(store, filter),
  "record sizes": (store) => recordRows.readRecordSizes(store, groups),
  "group sizes": (store) => recordRows.readGroupSizes(store, groups),
  "records of several runs": (store) => drain(recordRows.streamRunRecords(store, [groups, ["w/x/e"]])),
  "whole records": (store) => drain(recordRows.streamRecords(store, groups, { from: placeAt("0"), to: placeAt("9") })),
  logs: (store) => records.readLogs(store, logs),
  "log levels": (store) => records.readLogLevels(store, logs),
  params: (store) => records.readParams(store, groups),
  artifacts: (store) => records.readArtifacts(store, page),
  checkpoints: (store) => records.readCheckpoints(store, page),
  faults: (store) => records.readFaults(store, faults),
  "fault codes": (store) => records.readFaultCodes(store, faults),
  "fault bytes": (store) => records.readFaultRaw(store, "w", "f"),
  "a session": (store) => details.readSessionText(store, groups),
  counts: (store) => details.readCounts(store, groups),
  fields: (store) => details.readFields(store, "w", "lo"),
  "named runs": (store) => names.readNamedRuns(store, "w", ["a"]),
  "named groups": (store) => names.readNamedGroups(store, "w", ["a"]),
  "groups of runs": (store) => names.readGroupsOfRuns(store, "w", ["a"]),
  aliases: (store) => names.readAliases(store, "w", groups),
  ranges: (store) => sequences.readSeqRanges(store, groups),
  starts: (store) => sequences.readWorkerStarts(store, groups),
  "worker ends": (store) => sequences.readWorkerEnds(store, groups),
  "numbered events": (store) => sequences.readNumbered(store, groups, ["1"]),
  tensors: (store) => snapshots.readTensors(store, window, "t"),
  snapshots: (store) => snapshots.readSnapshots(store, window, "t", 10),
  snapshot: (store) => snapshots.readSnapshot(store, groups, "s"),
  span: (store) => span.readSpan(store, groups, "s"),
  node: (store) => span.readSpan(store, groups, "node:n"),
  "span ref": (store) => span.readSpanRef(store, groups, "s"),
  "marks of a span": (store) => span.readMarksOfSpan(store, groups, "s"),
  "span summary": (store) => readSpanSummary(store, window, true),
  "timeline parts": (store) => timeline.readTimelineParts(store, groups),
  "timeline state": (store) => timeline.readTimelineState(store, groups, { spans: 0n, nodes: 0n, marks: 0n }),
  "timeline spans": (store) => drain(timeline.readSpanBlocks(store, "spans", range)),
  "timeline nodes": (store) => drain(timeline.readSpanBlocks(store, "nodes", range)),
  "timeline marks": (store) => drain(timeline.readMarkBlocks(store, range)),
  "odd ids": (store) => timeline.readOddIds(store, "spans", range),
  "blob keys": whole.readBlobKeys,
  deletions: whole.countDeletions,
  "guests' columns": readGuestColumns,
  "XTrack's state": (store) => readStateEvents(store, groups),
};

describe.each(storesUnderTest)("questions to $name", ({ openMigrated }) => {
  const store = suiteStore(openMigrated);
  let asked = 0;
  const described = Object.assign(Object.create(store) as Store, {
    async *stream(query: Query, options: Parameters<Store["stream"]>[1]) {
      asked++;
      const columns = await askStore<{ name: string; type: string }>(store, {
        sql: `DESCRIBE TABLE (${query.sql})`,
        ...(query.params === undefined ? {} : { params: query.params }),
      });
      const row = columns.map(
        ({ name, type }) => `defaultValueOfTypeName('${type.replaceAll("'", "\\'")}') AS \`${name}\``,
      );
      yield* store.stream({ sql: `SELECT ${row.join(", ")}` }, options);
    },
  });

  test.each(Object.entries(questions))("are answered with the columns that are declared: %s", async (_name, ask) => {
    asked = 0;
    await ask(described);
    expect(asked).toBeGreaterThan(0);
  });
});
