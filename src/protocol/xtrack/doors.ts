// Frames over HTTP. A body is a stream of its own: it is framed before it is journalled, and what lies between frames
// becomes faults.

import { XtrackStream } from "#intake/xtrack/stream.ts";
import { toLinesReply } from "#protocol/lines-reply.ts";
import type { HttpDoor } from "#protocol/protocol.ts";

export const xtrackDoors: readonly HttpDoor[] = [
  {
    route: "xtrack",
    take({ arrival, body, query: { file = "", offset = 0, current_run: currentRun = null } }) {
      const stream = new XtrackStream({ file, offset, currentRun });
      const chunks = [stream.push(body), stream.finish()].filter((chunk) => chunk !== null && !chunk.isEmpty);
      return {
        submissions: chunks.flatMap((chunk) => {
          if (chunk === null) return [];
          const { body, offset, currentRun, decoded } = chunk;
          return [{ input: { ...arrival, kind: "xtrack_frames" as const, body, file, offset, currentRun }, decoded }];
        }),
        refused: null,
        answerWhen: "applied",
        toReply: (receipt) => toLinesReply(receipt, "offset"),
      };
    },
  },
];
