// GET /runs/<id>/events: everything a run received, of every protocol, in the order of arrival.

import { type ApiContext, decodeTextCursor, groupKeys, resolveRun, toBigInt } from "#api/context.ts";
import type { EventRow } from "#api/contract/record.ts";
import type { Handler } from "#api/handler.ts";
import type { EventRecord, EventRequest } from "#api/record-reads.ts";
import { rowFlags } from "#model/tables.ts";
import { byArrival, nextCursor } from "./records.ts";
import { findSeqConflicts } from "./seq-conflicts.ts";

const limitDefault = 100;

export function eventsRoute(context: ApiContext): Handler<"events"> {
  return async (request) => {
    const { query } = request;
    const asOf = context.asOf();
    const run = await resolveRun(context, request);
    const wanted: EventRequest = {
      groups: groupKeys(run),
      types: query.type ?? [],
      protocol: query.protocol ?? "",
      worker: query.worker ?? null,
      text: query.q ?? "",
      fromNs: toBigInt(query.from_ns),
      toNs: toBigInt(query.to_ns),
      after: decodeTextCursor(query.cursor, 2),
      descending: query.order === "desc",
      limit: query.limit ?? limitDefault,
    };
    const { records } = context.reads;
    const [rows, types] = await Promise.all([records.events(wanted), records.eventTypes(wanted)]);
    const conflicts = await findSeqConflicts(records, wanted.groups, rows);
    return {
      events: rows.map((row) => toEventRow(row, conflicts.has(row))),
      next: nextCursor(rows, wanted.limit, byArrival),
      types: Object.fromEntries(types.map(({ type, count }) => [type, count])),
      as_of: asOf,
    };
  };
}

function toEventRow({ jpos, jrow, flags, groupKey: _, ...row }: EventRecord, isConflict: boolean): EventRow {
  const bits = isConflict ? flags | rowFlags.seq_conflict : flags;
  const names = Object.entries(rowFlags).flatMap(([name, bit]) => ((bits & bit) === 0 ? [] : [name]));
  return { id: `${jpos}.${jrow}`, ...row, flags: names };
}
