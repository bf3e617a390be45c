// A run as lines that `tributary import` reads back; docs/export.md describes them. The record is the last member of its
// line, exactly as sent or rebuilt. What strict JSON cannot express (NaN, a repeated key) is a string instead.

import { createHash } from "node:crypto";
import { hasWord, inShortPieces, type Texts } from "#base/json/texts.ts";
import { inTurns } from "#base/turns.ts";
import { withoutWorkspace } from "#model/group-key.ts";
import { formatJournalPlace } from "#model/positions.ts";
import { protocolNamed } from "#protocol/protocols.ts";
import type { BatchHead, ExportLine } from "#protocol/stored-record.ts";
import { type FoundRun, groupKeysOf, ownRunsOf } from "#query/runs/find-run.ts";
import type { Sources } from "#query/sources.ts";
import * as reader from "#store/reader/export-records.ts";
import { readEdits } from "#store/reader/heads.ts";
import type { RecordRow } from "#store/reader/record-rows.ts";
import { takenAway } from "#store/store.ts";
import { encodeTexts } from "./encode-texts.ts";
import { assignBatches } from "./export-batches.ts";
import { readInStretches } from "./read-in-stretches.ts";
import { inRecords } from "./record-text.ts";

export interface ExportedRuns {
  readonly workspace: string;
  readonly runs: Iterable<FoundRun>;
  /** Also launches without runs. */
  readonly isEverything: boolean;
}

/** Everything of these runs, one line each, to be imported again. */
export function exportRuns(sources: Sources, exported: ExportedRuns, signal: AbortSignal): AsyncIterable<Uint8Array> {
  return encodeTexts(linesOf(sources, exported, signal));
}

/** Lines, long ones in pieces. */
async function* linesOf(
  { store, blobs }: Sources,
  { workspace, runs, isEverything }: ExportedRuns,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const parts = { store, blobs, workspace, launches: new Set<string>(), signal };
  for (const run of runs) yield* exportRun(parts, run);
  if (isEverything) yield* exportOtherLaunches(parts);
}

interface ExportParts extends Pick<Sources, "store" | "blobs"> {
  readonly workspace: string;
  /** Launches that were written already; runs of a sweep share theirs. */
  readonly launches: Set<string>;
  readonly signal: AbortSignal;
}

const fileChunkBytes = 768 * 1024;
/** How many bytes of a fault an export contains. */
const faultBytesMax = 512 * 1024;

async function* exportRun(parts: ExportParts, run: FoundRun): AsyncGenerator<string> {
  const own = groupKeysOf(run);
  yield* formatHead("run", { run: run.runId, edit: await readEdit(parts, own) });
  const groups = [...own, ...(await newLaunches(parts, own))];
  const batches = assignBatches(
    ...(await Promise.all([reader.readBatches(parts.store, own), reader.readBatchRecords(parts.store, own)])),
  );
  let held: Rows[] = [];
  const takeHeld = async (): Promise<Iterable<string>> => {
    const records = held as [Rows, ...Rows[]];
    held = [];
    const [first] = records;
    return first === undefined ? [] : toLine(records, run.runId, batches.get(formatJournalPlace(first[0])));
  };
  for await (const record of readRecords(parts, groups)) {
    const { isBatched } = protocolNamed(record[0].protocol).records;
    if (held[0] !== undefined && (!isBatched || formatJournalPlace(held[0][0]) !== formatJournalPlace(record[0])))
      yield* await takeHeld();
    held.push(record);
  }
  yield* await takeHeld();
  yield* exportFiles(parts, run, own);
  yield* exportHistory(parts, run, own);
}

/** What is kept besides the records: faults, and the steps of commands. */
async function* exportHistory(parts: ExportParts, found: FoundRun, groups: readonly string[]): AsyncGenerator<string> {
  const { store, workspace, signal } = parts;
  const run = found.runId;
  for await (const row of reader.streamKeptFaults(store, groups, faultBytesMax, { ...takenAway, signal })) {
    const { group_key, ...fault } = row;
    yield* formatHead("fault", { run, fault: { ...fault, group: withoutWorkspace(group_key) } });
  }
  for (const step of await reader.readCommandSteps(store, workspace, ownRunsOf(found), { signal })) {
    yield* formatHead("command", { run, step });
  }
}

/** Launches of which no run was written: they have none, or none yet. */
async function* exportOtherLaunches(parts: ExportParts): AsyncGenerator<string> {
  const { store, workspace, launches, signal } = parts;
  const groups = (await reader.readLaunchGroups(store, workspace, { signal })).filter((key) => !launches.has(key));
  if (groups.length > 0) for await (const record of readRecords(parts, groups)) yield* await toLine([record], "");
}

async function readEdit(
  { store, workspace, signal }: ExportParts,
  groupKeys: readonly string[],
): Promise<object | null> {
  const [edit] = await readEdits(store, { workspace, groupKeys }, { signal });
  if (edit === undefined) return null;
  const { name, notes, tags, archived } = edit;
  return {
    ...(name === null ? {} : { name }),
    ...(notes === null ? {} : { notes }),
    ...(tags === "" ? {} : { tags: JSON.parse(tags) as unknown }),
    archived,
  };
}

async function newLaunches({ store, launches, signal }: ExportParts, groups: readonly string[]): Promise<string[]> {
  const fresh = (await reader.readLaunchGroupsOf(store, groups, { signal })).filter((key) => !launches.has(key));
  for (const key of fresh) launches.add(key);
  return fresh;
}

type Rows = [RecordRow, ...RecordRow[]];

/** Each record's rows, in the order of arrival. */
async function* readRecords({ store, signal }: ExportParts, groups: readonly string[]): AsyncGenerator<Rows> {
  for await (const rows of readInStretches(store, groups, signal)) yield* inRecords(rows);
}

async function toLine(
  records: readonly [Rows, ...Rows[]],
  runId: string,
  batch?: BatchHead,
): Promise<Iterable<string>> {
  const line = await inTurns(protocolNamed(records[0][0].protocol).records.toLine(records, runId, batch));
  if (line.form === "base64") return formatLine(line, "base64");
  const isPlain = line.form === "json" && (await inTurns(canStand(line.record)));
  return formatLine(line, isPlain ? "record" : "text");
}

/** What strict JSON cannot express, and what would end the line. */
const notInLines = ["NaN", "Infinity", "\n"];

/** Whether a record can stand in a line as it is. */
function* canStand(record: Texts): Generator<void, boolean> {
  for (const word of notInLines) if (yield* hasWord(record, word)) return false;
  return true;
}

async function* exportFiles(parts: ExportParts, run: FoundRun, groups: readonly string[]): AsyncGenerator<string> {
  const { store, blobs, workspace, signal } = parts;
  for (const file of await reader.readFilesOfRun(store, { workspace, groups, run: run.runId }, { signal })) {
    if ((await blobs.size(file.object_key)) === null) continue;
    const isArtifact = file.kind.startsWith("artifact:");
    const head = isArtifact
      ? { run: run.runId, artifact: file.kind.slice("artifact:".length) }
      : { key: `snapshots/${file.span_id}/${file.kind}.${file.object_key.split(".").at(-1)}` };
    const hash = createHash("sha256");
    for await (const chunk of inChunks(blobs.read(file.object_key), fileChunkBytes)) {
      hash.update(chunk);
      yield* formatHead("file", { ...head, base64: chunk.toString("base64") });
    }
    yield* formatHead("file", { ...head, sha256: hash.digest("hex") });
  }
}

async function* inChunks(source: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes < bytesMax) continue;
    yield Buffer.concat(held);
    held = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(held);
}

function formatHead(kind: string, members: object): string[] {
  return [`${JSON.stringify({ tributary: 1, kind, ...members })}\n`];
}

function* formatLine({ kind, head, record }: ExportLine, member: "record" | "text" | "base64"): Generator<string> {
  yield `${JSON.stringify({ tributary: 1, kind, ...head }).slice(0, -1)},"${member}":${member === "record" ? "" : '"'}`;
  for (const piece of inShortPieces(record)) yield member === "text" ? JSON.stringify(piece).slice(1, -1) : piece;
  yield member === "record" ? "}\n" : '"}\n';
}
