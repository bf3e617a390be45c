// Output captured by `tributary run`: each line becomes a log row. Its identity is (wrapper, stream, offset),
// so the same capture sent twice is stored once.

import { isUtf8 } from "node:buffer";
import type { Input } from "#intake/input.ts";
import type { InputKind } from "#intake/input-kind.ts";
import { createRows, type Rows } from "#model/tables.ts";
import { takeFresh, wrapperKey } from "./wrapper-group.ts";

/** Lines that a program under `tributary run` printed. */
export interface LogLinesInput extends Input {
  readonly kind: "log_lines";
  readonly wrapperId: string;
  readonly stream: "stdout" | "stderr";
  readonly offset: number;
  /** When the lines were printed, if known; otherwise their time of arrival counts. */
  readonly printedNs?: string;
}

export const logLineInputs: InputKind<LogLinesInput> = {
  kind: "log_lines",
  decode(input) {
    const groupKey = wrapperKey(input);
    const lines = splitLines(input.body, input.offset);
    return {
      prepare: (state) => state.prepareGroups([groupKey]),
      isLong: input.body.length > longLineBytes,
      *apply({ groups }, _, position) {
        const state = groups.note(groupKey, { ...input, protocol: "run", ownId: input.wrapperId }, position);
        const fresh = takeFresh(groups.linesOf(groupKey, position), lines, ({ offset }) => [input.stream, offset]);
        const rows = yield* toLogRows(fresh, input, groupKey, position);
        return {
          parts: fresh.length === 0 ? [] : [{ table: "logs", rows, dropped: null }],
          state,
          accepted: fresh.length,
          duplicates: lines.length - fresh.length,
          faults: [],
        };
      },
    };
  },
};

/** A longer line is handled in turns with other work. */
const longLineBytes = 1024 * 1024;

const newline = 0x0a;
const carriageReturn = 0x0d;

interface CapturedLine {
  /** Byte offset of the line in its stream. */
  readonly offset: number;
  /** Without the line's end; a view of the body. */
  readonly bytes: Uint8Array;
}

export function splitLines(body: Uint8Array, offset: number): CapturedLine[] {
  const lines: CapturedLine[] = [];
  let start = 0;
  while (start < body.length) {
    const found = body.indexOf(newline, start);
    const end = found < 0 ? body.length : found;
    const cut = end > start && body[end - 1] === carriageReturn ? end - 1 : end;
    lines.push({ offset: offset + start, bytes: body.subarray(start, cut) });
    start = end + 1;
  }
  return lines;
}

const textDecoder = new TextDecoder();

function* toLogRows(
  lines: readonly CapturedLine[],
  input: LogLinesInput,
  groupKey: string,
  position: number,
): Generator<void, Rows<"logs">> {
  const rows = createRows("logs");
  const printedNs = input.printedNs === undefined ? input.receivedNs : BigInt(input.printedNs);
  for (const [at, line] of lines.entries()) {
    rows.group_key.push(groupKey);
    rows.worker.push("");
    rows.ts_ns.pushBigInt(printedNs);
    rows.seq.pushWords(0, 0);
    rows.level.push(input.stream === "stderr" ? "error" : "info");
    rows.logger.push("");
    // In bytes that are not UTF-8, replacement characters are shown, and `raw` has the bytes.
    const isText = isUtf8(line.bytes);
    if (line.bytes.length > longLineBytes) yield;
    if (isText) rows.msg.pushBytes(line.bytes);
    else rows.msg.push(textDecoder.decode(line.bytes));
    rows.step.pushNull();
    rows.fields.push("");
    rows.stream.push(input.stream);
    rows.offset.pushNumber(line.offset);
    rows.origin.push("");
    rows.received_ns.pushBigInt(input.receivedNs);
    rows.jpos.pushNumber(position);
    rows.jrow.push(at);
    rows.flags.push(0);
    rows.extra.push("");
    if (line.bytes.length > longLineBytes) yield;
    if (isText) rows.raw.push("");
    else rows.raw.pushBytes(line.bytes);
  }
  return rows;
}
