// Records → lines, byte for byte as the real driver writes them: keys sorted, ", " and ": " between, ASCII only, LF.

import { formatPythonJson, type PythonStyle, type PythonValue } from "./python-json.ts";

const textEncoder = new TextEncoder();

export type TraceRecord = { readonly record_type: string; readonly [key: string]: PythonValue | undefined };

const driverStyle: PythonStyle = { itemEnd: ", ", keyEnd: ": ", text: formatAscii };

/** The line with its LF. Members that are undefined are left out. */
export function encodeRecord(record: TraceRecord): Uint8Array {
  return textEncoder.encode(`${formatPythonJson(record, driverStyle)}\n`);
}

/** Escapes every UTF-16 unit beyond ASCII, so an astral character becomes two escapes and half a pair one. */
export function formatAscii(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
