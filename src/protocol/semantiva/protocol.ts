// Trace lines over HTTP.

import { lineInputs, type SemantivaLinesInput } from "#intake/semantiva/lines-input.ts";
import { cutLines, type LinesPiece } from "#protocol/body-pieces.ts";
import { takeRecords } from "#protocol/lines-reply.ts";
import type { HttpDoor, Protocol } from "#protocol/protocol.ts";
import { semantivaFacts } from "./facts.ts";
import { detectSemantiva } from "./files.ts";
import { exportedTraceLine, semantivaRecords } from "./stored-records.ts";

const semantivaDoors: readonly HttpDoor[] = [
  {
    route: "semantiva",
    copiesBody: true,
    take({ arrival, body, packed, query: { file = "", line: firstLine = 1, offset = 0 } }) {
      const toInput = (piece: LinesPiece): SemantivaLinesInput => ({
        ...{ ...arrival, kind: lineInputs.kind, file },
        ...{ body: piece.body, firstLine: firstLine + piece.line, offset: offset + piece.from },
        // Only a whole body can be kept as it was sent.
        ...(packed === undefined || piece.body !== body ? {} : { packed }),
      });
      return takeRecords(cutLines(arrival, "semantiva", body, toInput), "line");
    },
  },
];

export const semantiva: Protocol = {
  facts: semantivaFacts,
  inputs: [lineInputs],
  doors: semantivaDoors,
  detect: detectSemantiva,
  exported: [exportedTraceLine],
  records: semantivaRecords,
};
