// GET /runs/<id>/spans/summary: time by span name.

import { ofRun, type Route, toBigInt } from "#api/context.ts";
import { summarizeSpans } from "#query/timeline/span-detail.ts";

export const spanSummaryRoute: Route<"spanSummary"> = ofRun(async (context, { query, asOf, groups }) => {
  const fromNs = toBigInt(query.from_ns);
  const toNs = toBigInt(query.to_ns);
  const byRank = query.by === "name_rank";
  const rows = await summarizeSpans(context.sources, { groups, fromNs, toNs }, byRank);
  const first = fromNs ?? smallest(rows.map((row) => BigInt(row.first_ns)));
  const last = toNs ?? largest(rows.map((row) => BigInt(row.last_ns)));
  const lengthNs = Math.max(1, Number(last - first));
  return {
    rows: rows.map(({ first_ns: _, last_ns: __, ...row }) => ({ ...row, share: Number(row.wall_ns) / lengthNs })),
    as_of: asOf,
  };
});

function smallest(times: readonly bigint[]): bigint {
  return times.reduce((best, time) => (time < best ? time : best), times[0] ?? 0n);
}

function largest(times: readonly bigint[]): bigint {
  return times.reduce((best, time) => (time > best ? time : best), times[0] ?? 0n);
}
