// Trace streams, in every naming the driver has.

import { type Detection, type FileHead, type FileKind, startsObject, sureness } from "#protocol/file-kind.ts";
import { checkLines } from "./check.ts";
import { TraceLineReader } from "./read-files.ts";

const lineFile: FileKind = {
  name: "semantiva_lines",
  read: (file, options) => new TraceLineReader(file, options),
  check: (file, options, tally) => checkLines(file.path, file.chunks(), options, tally),
};

export function detectSemantiva({ name, text }: FileHead): Detection | null {
  if (startsObject(text) && /"record_type"\s*:/.test(text)) return { kind: lineFile, sure: sureness.key };
  return name.endsWith(".jsonl") ? { kind: lineFile, sure: sureness.ending } : null;
}
