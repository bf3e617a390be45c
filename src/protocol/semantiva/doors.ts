// Trace lines over HTTP.

import { lineInputs, type SemantivaLinesInput } from "#intake/semantiva/lines-input.ts";
import { cutLines } from "#protocol/body-pieces.ts";
import { toLinesReply } from "#protocol/lines-reply.ts";
import type { HttpDoor } from "#protocol/protocol.ts";

export const semantivaDoors: readonly HttpDoor[] = [
  {
    route: "semantiva",
    copiesBody: true,
    take({ arrival, body, packed, query: { file = "", line: firstLine = 1, offset = 0 } }) {
      return {
        submissions: cutLines(
          arrival,
          "semantiva",
          body,
          (piece): SemantivaLinesInput => ({
            ...{ ...arrival, kind: lineInputs.kind, file },
            ...{ body: piece.body, firstLine: firstLine + piece.line, offset: offset + piece.from },
            // Only a whole body can be kept as it was sent.
            ...(packed === undefined || piece.body !== body ? {} : { packed }),
          }),
        ),
        refused: null,
        answerWhen: "applied",
        toReply: (receipt) => toLinesReply(receipt, "line"),
      };
    },
  },
];
