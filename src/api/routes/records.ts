// Lists of what a run received: logs, params, files, faults.

import { type ApiContext, decodeTextCursor, encodeCursor, groupKeys, resolveRun, toBigInt } from "#api/context.ts";
import type { CheckpointRow, FaultRow, ParamRow } from "#api/contract/record.ts";
import { FileBody, type Handler } from "#api/handler.ts";
import type { Arrival, FaultRecord, FaultRequest } from "#api/reads.ts";
import { Refusal } from "#api/refusal.ts";
import { type FaultCode, faultKinds } from "#model/fault.ts";
import { parseGroupKey } from "#model/group-key.ts";
import type { LogFilter } from "#model/page.ts";

const limitDefault = 100;

export function logsRoute(context: ApiContext): Handler<"logs"> {
  return async (request) => {
    const { query } = request;
    const asOf = context.asOf();
    const run = await resolveRun(context, request);
    const wanted: LogFilter = {
      groups: groupKeys(run),
      limit: query.limit ?? limitDefault,
      after: decodeTextCursor(query.cursor, 3),
      fromNs: toBigInt(query.from_ns),
      toNs: toBigInt(query.to_ns),
      levels: query.level ?? [],
      text: query.q ?? "",
      workers: query.worker ?? [],
      stream: query.stream ?? "",
      fromStep: toBigInt(query.from_step),
      toStep: toBigInt(query.to_step),
      descending: query.order === "desc",
    };
    const [rows, levels] = await Promise.all([context.reads.logs(wanted), context.reads.logLevels(wanted)]);
    return {
      logs: rows.map(({ jpos: _, jrow: __, ...row }) => row),
      next: nextCursor(rows, wanted.limit, (row) => [row.ts_ns, row.jpos, row.jrow]),
      levels: Object.fromEntries(levels.map(({ level, count }) => [level, count])),
      as_of: asOf,
    };
  };
}

export function paramsRoute(context: ApiContext): Handler<"params"> {
  return async (request) => {
    const asOf = context.asOf();
    const run = await resolveRun(context, request);
    const records = await context.reads.params(groupKeys(run));
    const byName = Map.groupBy(records, (record) => record.name);
    const params = [...byName.values()].map((values): ParamRow => {
      const last = values.at(-1) as (typeof values)[number];
      const earlier = values.slice(0, -1).map(({ value, ts_ns, worker }) => ({ value, ts_ns, worker }));
      // The same value again, as every worker of a run sends it, is no change.
      return { ...last, earlier: earlier.filter((one) => one.value !== last.value) };
    });
    return { params, as_of: asOf };
  };
}

export function checkpointsRoute(context: ApiContext): Handler<"checkpoints"> {
  return async (request) => {
    const asOf = context.asOf();
    const run = await resolveRun(context, request);
    const limit = request.query.limit ?? limitDefault;
    const after = decodeTextCursor(request.query.cursor, 3);
    const rows = await context.reads.checkpoints({ groups: groupKeys(run), limit, after, fromNs: null, toNs: null });
    const checkpoints = rows.map(
      ({ seq: _, tie: __, metrics, is_best, ...row }): CheckpointRow => ({
        ...row,
        metrics: toMetrics(metrics),
        is_best: is_best === true || is_best === 1,
      }),
    );
    return { checkpoints, next: nextCursor(rows, limit, byTime), as_of: asOf };
  };
}

export function faultsRoute(context: ApiContext): Handler<"faults"> {
  return ({ query, caller }) => answerFaults(context, caller.workspace, null, null, query);
}

export function runFaultsRoute(context: ApiContext): Handler<"runFaults"> {
  return async (request) => {
    const run = await resolveRun(context, request);
    return answerFaults(context, request.caller.workspace, groupKeys(run), run.runId, request.query);
  };
}

type FaultQuery = Parameters<Handler<"faults">>[0]["query"];

async function answerFaults(
  context: ApiContext,
  workspace: string,
  groups: string[] | null,
  runId: string | null,
  query: FaultQuery,
) {
  const asOf = context.asOf();
  const wanted: FaultRequest = {
    workspace,
    groups,
    limit: query.limit ?? limitDefault,
    after: decodeTextCursor(query.cursor, 3),
    fromNs: toBigInt(query.from_ns),
    toNs: toBigInt(query.to_ns),
    codes: query.code ?? [],
    protocol: query.protocol ?? "",
  };
  const [rows, codes] = await Promise.all([context.reads.faults(wanted), context.reads.faultCodes(wanted)]);
  return {
    faults: rows.map((row) => toFaultRow(row, runId)),
    next: nextCursor(rows, wanted.limit, (row) => [row.received_ns, row.jpos, row.jrow]),
    codes: Object.fromEntries(codes.map(({ code, count }) => [code, count])),
    as_of: asOf,
  };
}

function toFaultRow(record: FaultRecord, runId: string | null): FaultRow {
  const { group_key, jpos: _, jrow: __, place, ...rest } = record;
  const kind = Object.hasOwn(faultKinds, record.code) ? faultKinds[record.code as FaultCode] : null;
  const run = runId ?? (group_key === "" ? null : parseGroupKey(group_key).ownId);
  return {
    ...rest,
    run,
    means: kind?.means ?? "",
    hint: kind?.hint ?? "",
    place: JSON.parse(place) as FaultRow["place"],
  };
}

export function faultRawRoute(context: ApiContext): Handler<"faultRaw"> {
  return async ({ params, caller }) => {
    const raw = await context.reads.faultRaw(caller.workspace, params.fault);
    if (raw !== null) return new FileBody("application/octet-stream", raw, `fault-${params.fault}.bin`);
    throw new Refusal("fault_not_found", `There is no fault with the id ${JSON.stringify(params.fault)}.`);
  };
}

/** The events' own order, whatever order they came in. */
export function byTime(row: { readonly ts_ns: string; readonly seq: string; readonly tie: string }): string[] {
  return [row.ts_ns, row.seq, row.tie];
}

export function byArrival(row: Arrival): (string | number)[] {
  return [row.jpos, row.jrow];
}

export function nextCursor<R>(rows: readonly R[], limit: number, key: (row: R) => (string | number)[]): string | null {
  const last = rows.at(-1);
  return last === undefined || rows.length < limit ? null : encodeCursor(key(last));
}

function toMetrics(text: string): CheckpointRow["metrics"] {
  if (text === "" || text === "null") return {};
  const parsed = JSON.parse(text) as Record<string, CheckpointRow["metrics"][string]>;
  return parsed !== null && typeof parsed === "object" && !Array.isArray(parsed) ? parsed : {};
}
