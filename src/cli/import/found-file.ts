// The files to import: those that hold traces, each with the folder it belongs to.

import { dirname, resolve } from "node:path";
import type { FileKind } from "#protocol/file-kind.ts";
import type { FoundFile } from "#protocol/reading/reader.ts";
import { findSources, isTrace } from "#protocol/sources.ts";

export interface FoundTrace extends FoundFile {
  readonly kind: FileKind;
  readonly sizeBytes: number;
}

/** Something that is not read, and why. */
export interface Passed {
  readonly path: string;
  readonly reason: string;
}

export interface Found {
  readonly files: readonly FoundTrace[];
  /** Named on the command line, and nothing in it that we can read. */
  readonly unknown: readonly string[];
  /** Named on the command line, and not there. */
  readonly missing: readonly string[];
  readonly passed: readonly Passed[];
}

export async function findFiles(paths: readonly string[]): Promise<Found> {
  const files: FoundTrace[] = [];
  const unknown: string[] = [];
  const missing: string[] = [];
  const passed: Passed[] = [];
  for (const path of paths) {
    const before = files.length + missing.length + passed.length;
    for await (const found of findSources([path])) {
      if (found.kind === null && found.path === path && found.reason === "ENOENT") missing.push(path);
      else if (found.kind === null) passed.push({ path: found.path, reason: found.reason });
      else if (isTrace(found.kind)) {
        const { kind, path: file, sizeBytes } = found;
        files.push({ path: file, kind, sizeBytes, source: kind.toSource?.(file) ?? dirname(resolve(file)) });
      }
    }
    if (files.length + missing.length + passed.length === before) unknown.push(path);
  }
  files.sort((a, b) => Number(b.kind.isFirst ?? false) - Number(a.kind.isFirst ?? false));
  return { files, unknown, missing, passed };
}
