// Paths that a person gave → the files in them that hold traces. A folder may be a spool, a `.cirron` folder, a folder of
// JSONL files under any of the driver's names, or a mixture; each file is recognised by itself.

import { open, readdir, realpath, stat } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { compareText } from "#base/compare-text.ts";
import { detectBytes, detectFile, exportFile } from "./detect.ts";
import type { FileKind } from "./file-kind.ts";

export interface Source {
  readonly path: string;
  readonly kind: FileKind;
  readonly sizeBytes: number;
  /** The path that was given, in which the file was found; equal to `path` when the file itself was given. */
  readonly root: string;
}

/** A path that cannot be read, or must not be. */
export interface UnreadablePath {
  readonly path: string;
  readonly kind: null;
  /** The system's word for it, such as ENOENT, or one of `refusals`. */
  readonly reason: string;
}

const refusals = {
  /** The author of a folder must not decide which other files of its reader are read. */
  link: "a link that leads out of the folder",
  /** It holds a server's rows and blobs, and requests that wait for it. */
  data: "a data folder of Tributary itself",
} as const;

/** No intended file is deeper, and this ends a cycle of mounts. */
const folderDepthMax = 32;
const passedFolders = new Set(["node_modules", ".git"]);
const dataFolders = new Set([".tributary", ".tributary-demo"]);

/** Files in the order of their names, which for a spool is the order of time. Of a folder, only files with traces are
 * given; a file that was named itself is given in any case. */
export async function* findSources(paths: readonly string[]): AsyncGenerator<Source | UnreadablePath> {
  for (const path of paths) {
    try {
      const found = await stat(path);
      if (found.isDirectory()) yield* walkFolder(path, { path, real: await realpath(path) }, 0);
      else yield await readSource(path, path);
    } catch (error) {
      yield { path, kind: null, reason: reasonOf(error) };
    }
  }
}

interface Root {
  readonly path: string;
  /** Its path without links. */
  readonly real: string;
}

async function* walkFolder(folder: string, root: Root, depth: number): AsyncGenerator<Source | UnreadablePath> {
  if (depth > folderDepthMax) return;
  const entries = await readdir(folder, { withFileTypes: true });
  const names = new Set(entries.map(({ name }) => name));
  if (dataFolders.has(basename(folder)) || (names.has("collector") && names.has("journal"))) {
    yield { path: folder, kind: null, reason: refusals.data };
    return;
  }
  for (const entry of entries.sort((a, b) => compareText(a.name, b.name))) {
    const path = join(folder, entry.name);
    try {
      if (entry.isDirectory()) {
        if (!passedFolders.has(entry.name)) yield* walkFolder(path, root, depth + 1);
      } else if (entry.isSymbolicLink() && !(await isInside(path, root))) {
        if ((await stat(path)).isFile()) yield { path, kind: null, reason: refusals.link };
      } else if (entry.isFile() || (entry.isSymbolicLink() && (await stat(path)).isFile())) {
        const source = await readSource(path, root.path);
        if (isTrace(source.kind)) yield source;
      }
    } catch (error) {
      yield { path, kind: null, reason: reasonOf(error) };
    }
  }
}

async function isInside(path: string, root: Root): Promise<boolean> {
  return (await realpath(path)).startsWith(root.real + sep);
}

/** Files in a folder that belong neither to a protocol nor to an export are skipped. */
export function isTrace(kind: FileKind): boolean {
  return kind === exportFile || kind.read !== null;
}

async function readSource(path: string, root: string): Promise<Source> {
  const file = await open(path, "r");
  try {
    const head = new Uint8Array(detectBytes);
    const { bytesRead } = await file.read(head, 0, detectBytes, 0);
    const { size } = await file.stat();
    return { path, kind: detectFile(basename(path), head.subarray(0, bytesRead)), sizeBytes: size, root };
  } finally {
    await file.close();
  }
}

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
