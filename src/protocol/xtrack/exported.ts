import type { ExportedKind } from "#protocol/exported.ts";
import { encodePayload } from "#wire/xtrack/encode.ts";

/** An event. One that does not say its run follows the last `run_start` of its stream, which the line names. */
export const exportedEvent: ExportedKind = {
  kind: "xtrack",
  joinBy: ({ run = "", stream_run = "" }) => `${run}\n${stream_run}`,
  toBytes: (_, record) => [encodePayload(record)],
  toShipment({ stream_run }) {
    const current = stream_run === undefined ? {} : { current_run: stream_run };
    return { route: "xtrack", query: { offset: 0, ...current } };
  },
};
