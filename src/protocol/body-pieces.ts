// Cuts a large body into records that are each decoded and applied quickly, so that nothing else has to wait long. Items
// beyond the limit become one fault and are not read.

import type { Arrival } from "#intake/input.ts";
import type { RefusedInput } from "#intake/refused.ts";
import type { Submission } from "./protocol.ts";

/** A little less than 256 KiB: a piece exceeds this by a part of a line, and should fit memory of that size. */
export const pieceBytesMax: number = 240 * 1024;
const pieceLinesMax = 1000;
/** More real records than a body of the usual size limit can have. */
export const itemsMax = 1_000_000;

export interface LinesPiece {
  /** Whole lines. */
  readonly body: Uint8Array;
  /** Their offset in the body. */
  readonly from: number;
  /** How many lines are before them. */
  readonly line: number;
}

/** `toInput` makes a record of each piece. A body that is a single piece is passed to it as it is. */
export function* cutLines(
  arrival: Omit<Arrival, "body">,
  protocol: string,
  body: Uint8Array,
  toInput: (piece: LinesPiece) => Submission["input"],
): Generator<Submission> {
  let line = 0;
  let from = 0;
  do {
    if (line >= itemsMax) {
      yield toRest(arrival, protocol, body, from, `${countLines(body, from)} more lines`);
      return;
    }
    const cut = findCut(body, from, Math.min(pieceLinesMax, itemsMax - line));
    const isWhole = from === 0 && cut.to === body.length;
    yield { input: toInput({ body: isWhole ? body : body.subarray(from, cut.to), from, line }) };
    line += cut.lines;
    from = cut.to;
  } while (from < body.length);
}

/** The end of the last line of this piece. A line is never cut, however long it is. */
function findCut(body: Uint8Array, from: number, linesMax: number): { to: number; lines: number } {
  let to = from;
  let lines = 0;
  while (to < body.length && lines < linesMax && (lines === 0 || to - from < pieceBytesMax)) {
    const end = body.indexOf(0x0a, to);
    to = end < 0 ? body.length : end + 1;
    lines++;
  }
  return { to, lines };
}

/** A fault for the rest of a body, which was not read. */
export function toRest(
  arrival: Omit<Arrival, "body">,
  protocol: string,
  body: Uint8Array,
  from: number,
  what: string,
): Submission {
  const detail = `A body may have ${itemsMax} records: ${what}, ${body.length - from} bytes, were not read.`;
  const place = JSON.stringify({ offset: from });
  const rest = { code: "too_many_items", detail, place, body: body.subarray(from) };
  const input: RefusedInput = { ...arrival, kind: "refused", protocol, ...rest };
  return { input };
}

function countLines(body: Uint8Array, from: number): number {
  let count = 0;
  for (let at = from; at < body.length; count++) {
    const end = body.indexOf(0x0a, at);
    at = end < 0 ? body.length : end + 1;
  }
  return count;
}
