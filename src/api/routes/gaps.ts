// GET /runs/<id>/gaps: XTrack's sequence numbers per worker and incarnation, and which of them never came.

import { ofRun, type Route } from "#api/context.ts";
import { readSequences } from "#query/xtrack/sequences.ts";

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
