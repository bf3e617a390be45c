// Captured output and what `tributary run` tells of the program, over HTTP.

import { type LogLinesInput, logLineInputs } from "#intake/run/log-lines.ts";
import { type WrapperLinesInput, wrapperLineInputs } from "#intake/run/wrapper-lines.ts";
import { cutLines } from "#protocol/body-pieces.ts";
import { toLinesReply } from "#protocol/lines-reply.ts";
import type { HttpDoor } from "#protocol/protocol.ts";

export const runDoors: readonly HttpDoor[] = [
  {
    route: "output",
    take({ arrival, body, query: { wrapper: wrapperId = "", stream = "stdout", offset = 0, at_ns } }) {
      const printed = at_ns === undefined ? {} : { printedNs: at_ns };
      return {
        submissions: cutLines(
          arrival,
          "run",
          body,
          (piece): LogLinesInput => ({
            ...{ ...arrival, kind: logLineInputs.kind, wrapperId, stream, ...printed },
            ...{ body: piece.body, offset: offset + piece.from },
          }),
        ),
        refused: null,
        answerWhen: "applied",
        toReply: (receipt) => toLinesReply(receipt, "offset"),
      };
    },
  },
  {
    route: "wrapper",
    take: ({ arrival, body, query: { wrapper: wrapperId = "" } }) => ({
      submissions: cutLines(arrival, "run", body, (piece): WrapperLinesInput => {
        return { ...arrival, kind: wrapperLineInputs.kind, body: piece.body, wrapperId };
      }),
      refused: null,
      answerWhen: "applied",
      toReply: (receipt) => toLinesReply(receipt, "line"),
    }),
  },
];
