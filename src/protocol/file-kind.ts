// What a file of traces is, and how it is checked. The content decides where it can; names only help where the content
// says nothing, since users rename files and a crash can leave any file torn at either end.

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
  /** The same as text with one character a byte. */
  readonly text: string;
}

export interface FileKind {
  readonly name: string;
  /** How it is imported; null when its records come by another file, or by another name of this one. */
  readonly read: ((file: FoundFile, options: ReaderOptions) => Reader) | null;
  /** Read before the others: what names it then finds it in place. */
  readonly isFirst?: true;
  /** The folder whose files belong together, from the path of one; without it, where the file lies. */
  toSource?(path: string): string;
  /** Null when there is nothing to check in it. */
  readonly check: ((file: CheckedFile, options: CheckOptions, tally: Tally) => AsyncIterable<Problem>) | null;
}

/** The surest protocol gets the file; of equally sure ones, the first in the registry. */
export const sureness = {
  /** Only this protocol names files so. */
  name: 5,
  /** The first bytes are framed as nothing else is. */
  frame: 4,
  /** Something stands in it that nothing else writes. */
  mark: 3,
  /** A key that its records have. */
  key: 2,
  /** A key that its records have, and maybe those of others. */
  commonKey: 1,
  /** How its files usually end. */
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
  /** The documents to the letter. */
  readonly strict?: boolean;
  readonly lineBytesMax?: number;
  readonly limits?: JsonLimits;
  /** Remarks that are made once for all files; each protocol adds its own. */
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
