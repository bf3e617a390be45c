// GET /runs/<id>/events and …/events/<event>: everything a run received, of every protocol, in the order of arrival.

import { limitDefault, ofRun, type Route, toBigInt } from "#api/context.ts";
import { decodePlaceCursor, nextCursor, type PlaceCursor } from "#api/cursor.ts";
import { FileBody } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { listEvents, type RecordPlace, readEventText } from "#archive/events.ts";
import { formatRowPlace, parseRowPlace } from "#model/positions.ts";
import { rowFlags } from "#model/row-flags.ts";
import { byPlace } from "./records.ts";

export const eventRoute: Route<"event"> = ofRun(async (context, { params, groups }) => {
  const { event } = params;
  const place = parseRowPlace(event);
  const text = place === null ? null : await readEventText(context.sources.store, groups, place);
  if (text !== null) return new FileBody("text/plain; charset=utf-8", text, `event-${event}.txt`);
  throw new Refusal("event_not_found", `This run has no record ${event}.`, { at: { part: "path", name: "event" } });
});

export const eventsRoute: Route<"events"> = ofRun(async (context, { query, asOf, groups }) => {
  const limit = query.limit ?? limitDefault;
  const { events, types } = await listEvents(context.sources.store, {
    groups,
    types: query.type ?? [],
    protocol: query.protocol ?? "",
    worker: query.worker ?? null,
    text: query.q ?? "",
    fromNs: toBigInt(query.from_ns),
    toNs: toBigInt(query.to_ns),
    after: toPlace(decodePlaceCursor(query.cursor)),
    descending: query.order === "desc",
    limit,
  });
  return {
    events: events.map(({ collector, jpos, jrow, flags, groupKey: _, ...row }) => ({
      id: formatRowPlace({ collector, jpos, jrow }),
      ...row,
      flags: Object.entries(rowFlags).flatMap(([name, bit]) => ((flags & bit) === 0 ? [] : [name])),
    })),
    next: nextCursor(events, limit, (event) => byPlace(event.received_ns, event)),
    types,
    as_of: asOf,
  };
});

function toPlace(cursor: PlaceCursor | null): RecordPlace | null {
  if (cursor === null) return null;
  const [received_ns, collector, jpos, jrow] = cursor;
  return { received_ns, collector, jpos, jrow: Number(jrow) };
}
