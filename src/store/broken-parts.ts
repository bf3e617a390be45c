// Parts of tables that the embedded engine could not read at a start. It puts them into the folder `detached` of their
// table and goes on without their rows; nothing else tells of them, and nothing removes them.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ownFolders } from "./engine/engine-config.ts";

export interface BrokenPart {
  readonly table: string;
  readonly path: string;
  readonly sizeBytes: number;
}

export function listBrokenParts(dataDir: string): BrokenPart[] {
  // One folder for each database, and in it one link for each table.
  const data = join(ownFolders(dataDir).store, "data");
  return listNames(data).flatMap((database) =>
    listNames(join(data, database)).flatMap((table) => {
      const folder = join(data, database, table, "detached");
      return listNames(folder)
        .filter((name) => name.startsWith("broken"))
        .map((name) => ({ table, path: join(folder, name), sizeBytes: sizeOf(join(folder, name)) }));
    }),
  );
}

export function sayBrokenParts(parts: readonly BrokenPart[]): string[] {
  const [first] = parts;
  if (first === undefined) return [];
  const tables = [...new Set(parts.map(({ table }) => table))].join(", ");
  const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
  return [
    `The embedded engine could not read ${parts.length} damaged ${parts.length === 1 ? "part" : "parts"} of its tables ` +
      `(${tables}; ${sizeBytes} bytes) and set them aside, the first as ${first.path}; their rows may be missing. ` +
      "Check the disk, restore a backup or send the data again, then remove these folders.",
  ];
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function sizeOf(path: string): number {
  try {
    return listNames(path).reduce(
      (sum, name) => sum + sizeOf(join(path, name)),
      statSync(path).isFile() ? statSync(path).size : 0,
    );
  } catch {
    return 0;
  }
}
