// Lists of what a run received: logs, params, files, faults.

import { type ApiContext, limitDefault, ofRun, type Question, type Route, toBigInt } from "#api/context.ts";
import type { CheckpointRow, CheckpointsAnswer, FaultRow } from "#api/contract/record.ts";
import type { QueryOf } from "#api/contract/routes.ts";
import { decodePlaceCursor, decodeTexts, int64, nextCursor } from "#api/cursor.ts";
import { FileBody, toExactJson } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { parseJson } from "#base/json/parse.ts";
import { isJsonObject } from "#base/json/value.ts";
import * as records from "#query/records.ts";
import { readSequences } from "#query/xtrack/sequences.ts";
import { toFloats } from "./xtrack-state.ts";

export const logsRoute: Route<"logs"> = ofRun(async (context, { query, asOf, groups }) => {
  const wanted: records.LogFilter = {
    ...pageOf(query),
    groups,
    levels: query.level ?? [],
    text: query.q ?? "",
    workers: query.worker ?? [],
    stream: query.stream ?? "",
    descending: query.order === "desc",
    chars: query.chars ?? null,
  };
  const { rows, levels } = await records.listLogs(context.sources, wanted);
  return {
    logs: rows.map(({ collector: _, jpos: __, jrow: ___, cut_from, ...row }) =>
      cut_from === 0 ? row : { ...row, cut_from },
    ),
    next: nextCursor(rows, wanted.limit, (row) => byPlace(row.ts_ns, row)),
    levels,
    as_of: asOf,
  };
});

export const paramsRoute: Route<"params"> = ofRun(async (context, { asOf, groups }) => {
  return { params: await records.listParams(context.sources, groups), as_of: asOf };
});

export const checkpointsRoute: Route<"checkpoints"> = ofRun(async (context, { asOf, groups, query }) => {
  const limit = query.limit ?? limitDefault;
  const after = decodeTimeCursor(query.cursor);
  const page = { groups, limit, after, fromNs: null, toNs: null };
  const rows = await records.readCheckpoints(context.sources.store, page);
  const checkpoints = rows.map(({ seq: _, tie: __, ...row }) => ({ ...row, metrics: toMetrics(row.metrics) }));
  return toExactJson<CheckpointsAnswer>({ checkpoints, next: nextCursor(rows, limit, byTime), as_of: asOf });
});

export const faultsRoute: Route<"faults"> = (context, question) => answerFaults(context, question, null);

export const runFaultsRoute: Route<"runFaults"> = ofRun((context, question) =>
  answerFaults(context, question, question.groups),
);

async function answerFaults(
  { sources }: ApiContext,
  { query, caller: { workspace }, asOf }: Pick<Question<"faults">, "query" | "caller" | "asOf">,
  groups: string[] | null,
) {
  const wanted: records.FaultFilter = {
    ...pageOf(query),
    workspace,
    groups,
    codes: query.code ?? [],
    protocol: query.protocol ?? "",
  };
  const { rows, codes } = await records.listFaults(sources, wanted);
  return {
    faults: rows.map(toFaultRow),
    next: nextCursor(rows, wanted.limit, (row) => byPlace(row.received_ns, row)),
    codes,
    as_of: asOf,
  };
}

type FoundFault = Awaited<ReturnType<typeof records.listFaults>>["rows"][number];

function toFaultRow({ collector: _, jpos: __, jrow: ___, place, ...fault }: FoundFault): FaultRow {
  return { ...fault, place: JSON.parse(place) as FaultRow["place"] };
}

export const faultRawRoute: Route<"faultRaw"> = async (context, { params, caller }) => {
  const raw = await records.readFaultBytes(context.sources, caller.workspace, params.fault);
  if (raw !== null) return new FileBody("application/octet-stream", raw, `fault-${params.fault}.bin`);
  throw new Refusal("fault_not_found", `There is no fault with the id ${JSON.stringify(params.fault)}.`);
};

/** Of a list by place: which page of which window of time. */
function pageOf({ limit = limitDefault, cursor, from_ns, to_ns }: QueryOf<"faults">) {
  return { limit, after: decodePlaceCursor(cursor), fromNs: toBigInt(from_ns), toNs: toBigInt(to_ns) };
}

/** The events' own order, whatever order they came in. */
export function byTime(row: { readonly ts_ns: string; readonly seq: string; readonly tie: string }): string[] {
  return [row.ts_ns, row.seq, row.tie];
}

export function decodeTimeCursor(cursor: string | undefined): string[] | null {
  return decodeTexts(cursor, int64, int64, int64);
}

/** By a time, and records of one moment by where they came from. */
export function byPlace(
  timeNs: string,
  row: { readonly collector: string; readonly jpos: string; readonly jrow: number },
): (string | number)[] {
  return [timeNs, row.collector, row.jpos, row.jrow];
}

function toMetrics(text: string): CheckpointRow["metrics"] {
  const parsed = parseJson(text);
  return parsed.ok && isJsonObject(parsed.value) ? toFloats(Object.entries(parsed.value)) : {};
}

// GET /runs/<id>/gaps: XTrack's sequence numbers per worker and incarnation, and which of them never came.

export const gapsRoute: Route<"gaps"> = ofRun(async (context, { asOf, groups }) => {
  const found = await readSequences(context.sources, groups);
  const sequences = found.sequences.map((one) => ({
    worker: one.worker,
    incarnation: one.incarnation,
    first_seq: one.firstSeq.toString(),
    last_seq: one.lastSeq.toString(),
    received: one.received,
    duplicates: one.duplicates,
    conflicts: one.conflicts,
    missing: Number(one.missing),
    first_ns: one.firstNs.toString(),
    last_ns: one.lastNs.toString(),
    gaps: one.gaps.map(({ fromSeq, toSeq }) => ({ from_seq: fromSeq.toString(), to_seq: toSeq.toString() })),
  }));
  return {
    sequences,
    missing: sequences.reduce((sum, one) => sum + one.missing, 0),
    duplicates: sequences.reduce((sum, one) => sum + one.duplicates, 0),
    as_of: asOf,
  };
});
