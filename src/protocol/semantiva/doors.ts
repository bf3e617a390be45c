// Trace lines over HTTP.

import { toLinesReply } from "#protocol/lines-reply.ts";
import type { HttpDoor } from "#protocol/protocol.ts";

export const semantivaDoors: readonly HttpDoor[] = [
  {
    route: "semantiva",
    take({ arrival, body, packed, query: { file = "", line: firstLine = 1, offset = 0 } }) {
      const sent = packed === undefined ? { body } : { body, packed };
      return {
        submissions: [{ input: { ...arrival, kind: "semantiva_lines", ...sent, file, firstLine, offset } }],
        refused: null,
        answerWhen: "applied",
        toReply: (receipt) => toLinesReply(receipt, "line"),
      };
    },
  },
];
