// The kinds of files with traces, and how they are read and checked. A file is recognised by its content if possible, and by
// its name only otherwise, because users rename files and a crash can leave any file torn at either end.

import type { JsonLimits } from "#base/json/value.ts";
import { defaultSplitLimits, LineSplitter, type SplitLimits, type SplitLine } from "#wire/semantiva/lines.ts";
import type { Registry } from "#wire/semantiva/registry.ts";
import type { Problem, Tally } from "./finding.ts";
import type { FoundFile, Reader, ReaderOptions } from "./reading/reader.ts";

export interface FileHead {
  /** The last part of its path. */
  readonly name: string;
  /** The first `detectBytes` of the file, all of it when it is shorter. */
  readonly bytes: Uint8Array;
  /** The same as text, with one character per byte. */
  readonly text: string;
}

export interface FileKind {
  readonly name: string;
  /** How it is imported; null when it is not: its records are in another file, or will be under another name. */
  readonly read: ((file: FoundFile, options: ReaderOptions) => Reader) | null;
  /** It is read before other kinds, whose records refer to it. */
  readonly isFirst?: true;
  /** The folder whose files belong together, from the path of one file; by default the folder of the file. */
  toSource?(path: string): string;
  /** Null when there is nothing to check. */
  readonly check: ((file: CheckedFile, options: CheckOptions, tally: Tally) => AsyncIterable<Problem>) | null;
}

/** How sure a protocol is. The surest gets the file; of equally sure ones, the first in the registry. */
export const sureness = {
  /** Only this protocol uses such names. */
  name: 5,
  /** The first bytes have a framing that nothing else has. */
  frame: 4,
  /** It contains something that nothing else writes. */
  mark: 3,
  /** A key that its records have. */
  key: 2,
  /** A key that its records have, as records of other formats may. */
  commonKey: 1,
  /** The usual ending of its file names. */
  ending: 0,
} as const;

export interface Detection {
  readonly kind: FileKind;
  readonly sure: (typeof sureness)[keyof typeof sureness];
}

export interface CheckedFile {
  readonly path: string;
  chunks(): AsyncIterable<Uint8Array>;
}

export interface CheckOptions {
  /** The schemas of trace lines, the user's own among them. */
  readonly registry: Registry;
  /** Refuses everything that the documents do not allow. */
  readonly strict?: boolean;
  readonly lineBytesMax?: number;
  readonly limits?: JsonLimits;
  /** The remarks made so far that are made only once for all files. */
  readonly said: Set<string>;
}

export async function readWhole(file: CheckedFile): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of file.chunks()) parts.push(chunk);
  return Buffer.concat(parts);
}

export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  limits: SplitLimits = defaultSplitLimits,
): AsyncGenerator<SplitLine> {
  const splitter = new LineSplitter(limits);
  for await (const chunk of chunks) yield* splitter.push(chunk);
  yield* splitter.finish();
}

/** Whether text as `FileHead` has it starts with a JSON object, after blanks and a byte order mark. */
export function startsObject(text: string): boolean {
  return text
    .replace(/^\xef\xbb\xbf/, "")
    .trimStart()
    .startsWith("{");
}
