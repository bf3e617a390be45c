// Captured output and what `tributary run` reports of its program, over HTTP. There are no files to import: the wrapper keeps
// what it cannot send in its own spool.

import { type LogLinesInput, logLineInputs } from "#intake/run/log-lines.ts";
import { type WrapperLinesInput, wrapperLineInputs } from "#intake/run/wrapper-lines.ts";
import { cutLines, type LinesPiece } from "#protocol/body-pieces.ts";
import { takeRecords } from "#protocol/lines-reply.ts";
import type { HttpDoor, Protocol } from "#protocol/protocol.ts";
import { runFacts } from "./facts.ts";
import { exportedOutput, exportedWrapperLine, runRecords } from "./stored-records.ts";

const runDoors: readonly HttpDoor[] = [
  {
    route: "output",
    take({ arrival, body, query: { wrapper: wrapperId = "", stream = "stdout", offset = 0, at_ns } }) {
      const printed = at_ns === undefined ? {} : { printedNs: at_ns };
      const toInput = (piece: LinesPiece): LogLinesInput => ({
        ...{ ...arrival, kind: logLineInputs.kind, wrapperId, stream, ...printed },
        ...{ body: piece.body, offset: offset + piece.from },
      });
      return takeRecords(cutLines(arrival, "run", body, toInput), "offset");
    },
  },
  {
    route: "wrapper",
    take({ arrival, body, query: { wrapper: wrapperId = "" } }) {
      const { kind } = wrapperLineInputs;
      const toInput = (piece: LinesPiece): WrapperLinesInput => ({ ...arrival, kind, body: piece.body, wrapperId });
      return takeRecords(cutLines(arrival, "run", body, toInput), "line");
    },
  },
];

export const run: Protocol = {
  facts: runFacts,
  inputs: [logLineInputs, wrapperLineInputs],
  doors: runDoors,
  detect: () => null,
  exported: [exportedOutput, exportedWrapperLine],
  records: runRecords,
};
