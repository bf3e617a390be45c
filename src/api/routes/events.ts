// GET /runs/<id>/events and …/events/<event>: everything a run received, of every protocol, in the order of arrival.

import { type ApiContext, decodeTextCursor, resolveRun, toBigInt } from "#api/context.ts";
import { FileBody, type Handler } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { listEvents, readEventText } from "#archive/events.ts";
import { rowFlags } from "#model/tables.ts";
import { groupKeysOf } from "#query/runs/find-run.ts";
import { byArrival, nextCursor } from "./records.ts";

const limitDefault = 100;

export function eventRoute(context: ApiContext): Handler<"event"> {
  return async (request) => {
    const { event } = request.params;
    const run = await resolveRun(context, request);
    const [jpos = "", jrow = ""] = event.split(".");
    const text = await readEventText(context.sources.store, groupKeysOf(run), [jpos, jrow]);
    if (text !== null) return new FileBody("text/plain; charset=utf-8", text, `event-${event}.txt`);
    throw new Refusal("event_not_found", `This run has no record ${event}.`, { at: { part: "path", name: "event" } });
  };
}

export function eventsRoute(context: ApiContext): Handler<"events"> {
  return async (request) => {
    const { query } = request;
    const asOf = context.asOf();
    const run = await resolveRun(context, request);
    const limit = query.limit ?? limitDefault;
    const [jpos, jrow] = decodeTextCursor(query.cursor, 2) ?? [];
    const { events, types } = await listEvents(context.sources.store, {
      groups: groupKeysOf(run),
      types: query.type ?? [],
      protocol: query.protocol ?? "",
      worker: query.worker ?? null,
      text: query.q ?? "",
      fromNs: toBigInt(query.from_ns),
      toNs: toBigInt(query.to_ns),
      after: jpos === undefined || jrow === undefined ? null : [jpos, jrow],
      descending: query.order === "desc",
      limit,
    });
    return {
      events: events.map(({ jpos, jrow, flags, groupKey: _, ...row }) => ({
        id: `${jpos}.${jrow}`,
        ...row,
        flags: Object.entries(rowFlags).flatMap(([name, bit]) => ((flags & bit) === 0 ? [] : [name])),
      })),
      next: nextCursor(events, limit, byArrival),
      types,
      as_of: asOf,
    };
  };
}
