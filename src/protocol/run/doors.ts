// Captured output and what `tributary run` tells of the program, over HTTP.

import { toLinesReply } from "#protocol/lines-reply.ts";
import type { HttpDoor } from "#protocol/protocol.ts";

export const runDoors: readonly HttpDoor[] = [
  {
    route: "output",
    take({ arrival, body, query: { wrapper: wrapperId = "", stream = "stdout", offset = 0, at_ns } }) {
      const printed = at_ns === undefined ? {} : { printedNs: at_ns };
      return {
        submissions: [{ input: { ...arrival, kind: "log_lines", body, wrapperId, stream, offset, ...printed } }],
        refused: null,
        answerWhen: "applied",
        toReply: (receipt) => toLinesReply(receipt, "offset"),
      };
    },
  },
  {
    route: "wrapper",
    take: ({ arrival, body, query: { wrapper: wrapperId = "" } }) => ({
      submissions: [{ input: { ...arrival, kind: "wrapper_lines", body, wrapperId } }],
      refused: null,
      answerWhen: "applied",
      toReply: (receipt) => toLinesReply(receipt, "line"),
    }),
  },
];
