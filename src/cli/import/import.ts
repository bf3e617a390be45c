// Reads files and folders into a server: once, or following what is still being written.

import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "#cli/client.ts";
import type { Reader } from "#protocol/reading/reader.ts";
import { ExportReader } from "./export-reader.ts";
import { type FoundTrace, findFiles } from "./found-file.ts";
import { createPace } from "./pace.ts";
import { createSender, type ImportTotals } from "./sender.ts";

export interface ImportOptions {
  readonly client: Client;
  readonly paths: readonly string[];
  readonly runId?: string;
  /** `instant`, `realtime`, `10x`. */
  readonly speed: string;
  readonly follow: boolean;
  /** What is read was written just now, by a program that is known here. */
  readonly live?: boolean;
  /** Which of the files that were found. */
  readonly only?: (path: string) => boolean;
  readonly stop: AbortSignal;
  readonly onFound?: (files: readonly FoundTrace[]) => void;
  readonly onBytes?: (bytes: number) => void;
}

export interface ImportResult extends ImportTotals {
  readonly unknown: readonly string[];
}

const pollMs = 200;

/** Resolves when everything that was read can be queried; with `follow`, after `stop`. */
export async function importPaths(options: ImportOptions): Promise<ImportResult> {
  const { client, paths, runId, follow, stop } = options;
  const pace = createPace(options.speed, stop);
  const sender = createSender({
    client,
    runId,
    imported: !follow && options.live !== true,
    onBytes: options.onBytes ?? (() => undefined),
  });
  const readers = new Map<string, Reader>();
  const createReader = (file: FoundTrace): Reader =>
    file.kind.read?.(file, { sender, pace }) ?? new ExportReader(file, { sender, pace });
  const addFound = async () => {
    const { files, unknown } = await findFiles(paths);
    const fresh = files.filter(({ path }) => !readers.has(path) && (options.only?.(path) ?? true));
    for (const file of fresh) readers.set(file.path, createReader(file));
    sender.totals.files += fresh.length;
    if (fresh.length > 0) options.onFound?.(fresh);
    return unknown;
  };

  let unknown = await addFound();
  for (const reader of readers.values()) {
    while (!stop.aborted && (await reader.poll())) {
      // Until this file has nothing more.
    }
  }
  while (follow && !stop.aborted) {
    await sleep(pollMs, undefined, { signal: stop }).catch(() => undefined);
    unknown = await addFound();
    for (const reader of readers.values()) await reader.poll();
  }
  for (const reader of readers.values()) await reader.finish();
  await sender.settle();
  return { ...sender.totals, unknown };
}
