// Runs as files for other tools: a table of one kind of record, and a Chrome trace.

import { itemsInSteps } from "#base/json/members.ts";
import { inTurns } from "#base/turns.ts";
import { type FoundRun, groupKeysOf } from "#query/runs/find-run.ts";
import { type ExportScope, exportTableQuery, streamSlices } from "#store/reader/export-tables.ts";
import { type Store, takenAway } from "#store/store.ts";
import { ChromeTrace } from "./chrome-trace.ts";
import { formatCsvRow } from "./csv.ts";
import { encodeTexts } from "./encode-texts.ts";

export function exportParquet(store: Store, kind: string, scope: ExportScope): AsyncIterable<Uint8Array> {
  return store.stream(exportTableQuery(store.database, kind, scope), { ...takenAway, format: "Parquet" });
}

export async function* exportCsv(store: Store, kind: string, scope: ExportScope): AsyncGenerator<Uint8Array> {
  const query = exportTableQuery(store.database, kind, scope);
  const { header, chunks } = await store.answer(query, takenAway);
  yield* encodeCsv(header.names, chunks);
}

const longLineChars = 1024 * 1024;

/** `rows` are lines, each a JSON array. */
export function encodeCsv(names: readonly string[], rows: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return encodeTexts(toCsv(names, rows));
}

async function* toCsv(names: readonly string[], rows: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  yield formatCsvRow(names);
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of rows) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() as string;
    for (const line of lines)
      yield formatCsvRow(line.length > longLineChars ? await inTurns(readLongRow(line)) : (JSON.parse(line) as CsvRow));
  }
}

/** A list of millions goes into the CSV unchanged: parsing and writing it again would hold up everybody. */
function* readLongRow(line: string): Generator<void, CsvRow> {
  const row: CsvRow[number][] = [];
  for (const text of yield* itemsInSteps(line)) {
    row.push(/^[[{]/.test(text) ? text : (JSON.parse(text) as CsvRow[number]));
    yield;
  }
  return row;
}

type CsvRow = Parameters<typeof formatCsvRow>[0];

export function exportTrace(store: Store, run: FoundRun): AsyncIterable<Uint8Array> {
  return encodeTexts(traceTexts(store, run));
}

async function* traceTexts(store: Store, run: FoundRun): AsyncGenerator<string> {
  const trace = new ChromeTrace();
  yield trace.begin(run.runId);
  for await (const slice of streamSlices(store, groupKeysOf(run))) yield trace.add(slice);
  yield trace.end();
}
