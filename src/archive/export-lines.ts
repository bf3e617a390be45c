// A run as lines that `tributary import` reads back; docs/export.md describes them. The record is the last member of its
// line, exactly as sent or rebuilt. What strict JSON cannot express (NaN, a repeated key) is a string instead.

import { createHash } from "node:crypto";
import { hasWord, inShortPieces, type Texts } from "#base/json/texts.ts";
import { inTurns } from "#base/turns.ts";
import { withoutWorkspace } from "#model/group-key.ts";
import { formatJournalPlace } from "#model/positions.ts";
import { protocolNamed } from "#protocol/protocols.ts";
import type { BatchHead, ExportLine } from "#protocol/stored-record.ts";
import { type FoundRun, ownRunsOf } from "#query/runs/find-run.ts";
import type { Sources } from "#query/sources.ts";
import * as reader from "#store/reader/export-records.ts";
import { type EditFact, readEdits } from "#store/reader/heads.ts";
import type { RecordRow } from "#store/reader/record-rows.ts";
import { encodeTexts } from "./encode-texts.ts";
import { assignBatches } from "./export-batches.ts";
import { inPortions, type Portion, readPortion } from "./export-portions.ts";
import { readInStretches } from "./read-in-stretches.ts";
import { inRecords } from "./record-text.ts";

export interface ExportedRuns {
  readonly workspace: string;
  readonly runs: Iterable<FoundRun>;
  /** Also launches without runs. */
  readonly isEverything: boolean;
}

/** Everything of these runs, one line each, to be imported again. */
export function exportRuns(sources: Sources, exported: ExportedRuns): AsyncIterable<Uint8Array> {
  return encodeTexts(linesOf(sources, exported));
}

/** Lines, long ones in pieces. */
async function* linesOf(
  { store, blobs }: Sources,
  { workspace, runs, isEverything }: ExportedRuns,
): AsyncGenerator<string> {
  const parts = { store, blobs, workspace };
  const launches = new Set<string>();
  for await (const portion of inPortions(store, runs, launches)) {
    yield* exportRecords(parts, portion);
    yield* exportBeside(parts, portion);
  }
  if (isEverything) yield* exportOtherLaunches(parts, launches);
}

interface ExportParts extends Pick<Sources, "store" | "blobs"> {
  readonly workspace: string;
}

const fileChunkBytes = 768 * 1024;
/** How many bytes of a fault an export contains. */
const faultBytesMax = 512 * 1024;

/** Of each run its head, then its records. */
async function* exportRecords(parts: ExportParts, portion: Portion): AsyncGenerator<string> {
  const { store } = parts;
  const [edits, batches] = await Promise.all([readEditsOf(parts, portion), readBatchesOf(parts, portion)]);
  const places = new Map(portion.flatMap(({ groups }, place) => groups.map((key) => [key, place])));
  let place = -1;
  let held: Rows[] = [];
  const takeHeld = async (): Promise<Iterable<string>> => {
    const records = held as [Rows, ...Rows[]];
    held = [];
    const [first] = records;
    if (first === undefined) return [];
    return toLine(records, portion[place]?.run.runId ?? "", batches[place]?.get(formatJournalPlace(first[0])));
  };
  const toHeads = (last: number): string[] =>
    portion.slice(place + 1, last + 1).map(({ run: { runId } }) => toHead(runId, edits.get(runId)));
  for await (const record of inRecords(readPortion(store, portion))) {
    const { isBatched } = protocolNamed(record[0].protocol).records;
    const now = places.get(record[0].group_key) ?? place;
    const isOther = held[0] !== undefined && formatJournalPlace(held[0][0]) !== formatJournalPlace(record[0]);
    if (!isBatched || isOther || now !== place) yield* await takeHeld();
    yield* toHeads(now);
    place = now;
    held.push(record);
  }
  yield* await takeHeld();
  yield* toHeads(portion.length - 1);
}

/** What runs have besides their records: files, faults, and the steps of commands. */
async function* exportBeside(parts: ExportParts, portion: Portion): AsyncGenerator<string> {
  const { store, workspace } = parts;
  const groups = portion.flatMap(({ own }) => own);
  const runs = portion.flatMap(({ run }) => ownRunsOf(run));
  const found = await reader.readBeside(store, { workspace, groups, runs });
  const named = new Set(found.map(({ what, name }) => `${what} ${name}`));
  for (const { run, own } of portion) {
    const has = (what: reader.Beside) => [...own, ...ownRunsOf(run)].some((name) => named.has(`${what} ${name}`));
    if (has("files")) yield* exportFiles(parts, run, own);
    if (has("faults")) yield* exportFaults(parts, run, own);
    if (!has("commands")) continue;
    for (const step of await reader.readCommandSteps(store, workspace, ownRunsOf(run)))
      yield formatHead("command", { run: run.runId, step });
  }
}

async function* exportFaults(
  { store }: ExportParts,
  { runId: run }: FoundRun,
  groups: readonly string[],
): AsyncGenerator<string> {
  for await (const row of reader.streamKeptFaults(store, groups, faultBytesMax)) {
    const { group_key, ...fault } = row;
    yield formatHead("fault", { run, fault: { ...fault, group: withoutWorkspace(group_key) } });
  }
}

/** Launches of which no run was written: they have none, or none yet. */
async function* exportOtherLaunches(
  { store, workspace }: ExportParts,
  launches: ReadonlySet<string>,
): AsyncGenerator<string> {
  const groups = (await reader.readLaunchGroups(store, workspace)).filter((key) => !launches.has(key));
  if (groups.length === 0) return;
  for await (const rows of readInStretches(store, groups))
    for await (const record of inRecords(rows)) yield* await toLine([record], "");
}

async function readEditsOf({ store, workspace }: ExportParts, portion: Portion): Promise<Map<string, EditFact>> {
  const groupKeys = portion.flatMap(({ own }) => own);
  const edits = await readEdits(store, { workspace, groupKeys });
  return new Map(edits.map((edit) => [edit.runId, edit]));
}

function toHead(run: string, edit: EditFact | undefined): string {
  if (edit === undefined) return formatHead("run", { run, edit: null });
  const { name, notes, tags, archived } = edit;
  const edited = {
    ...(name === null ? {} : { name }),
    ...(notes === null ? {} : { notes }),
    ...(tags === "" ? {} : { tags: JSON.parse(tags) as unknown }),
    archived,
  };
  return formatHead("run", { run, edit: edited });
}

/** Of each run the batch that every journal record came in. */
async function readBatchesOf({ store }: ExportParts, portion: Portion): Promise<ReadonlyMap<string, BatchHead>[]> {
  const own = portion.flatMap((run) => run.own);
  const [batches, records] = await Promise.all([reader.readBatches(store, own), reader.readBatchRecords(store, own)]);
  const batchesOf = Map.groupBy(batches, (row) => row.group_key);
  const recordsOf = Map.groupBy(records, (row) => row.group_key);
  return portion.map((run) =>
    assignBatches(
      run.own.flatMap((key) => batchesOf.get(key) ?? []),
      run.own.flatMap((key) => recordsOf.get(key) ?? []),
    ),
  );
}

type Rows = [RecordRow, ...RecordRow[]];

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
  const { store, blobs, workspace } = parts;
  for (const file of await reader.readFilesOfRun(store, { workspace, groups, run: run.runId })) {
    if ((await blobs.size(file.object_key)) === null) continue;
    const isArtifact = file.kind.startsWith("artifact:");
    const head = isArtifact
      ? { run: run.runId, artifact: file.kind.slice("artifact:".length) }
      : { key: `snapshots/${file.span_id}/${file.kind}.${file.object_key.split(".").at(-1)}` };
    const hash = createHash("sha256");
    for await (const chunk of inChunks(blobs.read(file.object_key), fileChunkBytes)) {
      hash.update(chunk);
      yield formatHead("file", { ...head, base64: chunk.toString("base64") });
    }
    yield formatHead("file", { ...head, sha256: hash.digest("hex") });
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

function formatHead(kind: string, members: object): string {
  return `${JSON.stringify({ tributary: 1, kind, ...members })}\n`;
}

function* formatLine({ kind, head, record }: ExportLine, member: "record" | "text" | "base64"): Generator<string> {
  yield `${JSON.stringify({ tributary: 1, kind, ...head }).slice(0, -1)},"${member}":${member === "record" ? "" : '"'}`;
  for (const piece of inShortPieces(record)) yield member === "text" ? JSON.stringify(piece).slice(1, -1) : piece;
  yield member === "record" ? "}\n" : '"}\n';
}
