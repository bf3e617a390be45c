// The files to import: those that hold traces, each with the folder it belongs to.

import { dirname, resolve } from "node:path";
import type { FileKind } from "#protocol/file-kind.ts";
import { findSources } from "#protocol/sources.ts";

export interface FoundFile {
  readonly path: string;
  readonly kind: FileKind;
  readonly sizeBytes: number;
  /** The folder whose files belong together: one process' `.cirron`, or where the file lies. */
  readonly source: string;
}

export interface Found {
  readonly files: readonly FoundFile[];
  /** Named on the command line, and nothing in it that we can read. */
  readonly unknown: readonly string[];
}

export async function findFiles(paths: readonly string[]): Promise<Found> {
  const files: FoundFile[] = [];
  const unknown: string[] = [];
  for (const path of paths) {
    const before = files.length;
    for await (const source of findSources([path])) {
      if (source.kind === null || !source.kind.isTrace) continue;
      files.push({ path: source.path, kind: source.kind, sizeBytes: source.sizeBytes, source: toSource(source.path) });
    }
    if (files.length === before) unknown.push(path);
  }
  // Blobs go first: a batch that names them then finds them in place.
  files.sort((a, b) => Number(b.kind.name === "cirron_blob") - Number(a.kind.name === "cirron_blob"));
  return { files, unknown };
}

/** A spool and its snapshots lie in one `.cirron`; any other file belongs to its own folder. */
export function toSource(path: string): string {
  const parts = resolve(path).split("/");
  const at = parts.lastIndexOf(".cirron");
  return at > 0 ? parts.slice(0, at + 1).join("/") : dirname(resolve(path));
}
