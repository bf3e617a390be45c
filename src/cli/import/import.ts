// Reads files and folders into a server: once, or following what is still being written.

import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "#cli/client.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import type { Pace, Reader } from "#protocol/reading/reader.ts";
import { ExportReader } from "./export-reader.ts";
import { type Found, type FoundTrace, findFiles } from "./found-file.ts";
import { createSender } from "./sender.ts";
import type { ImportTotals } from "./totals.ts";

export interface ImportOptions {
  readonly client: Client;
  readonly paths: readonly string[];
  readonly runId?: string;
  /** `instant`, `realtime`, `10x`. */
  readonly speed: string;
  readonly follow: boolean;
  /** The files were written just now, by a program that this process knows. */
  readonly live?: boolean;
  /** Which of the files that were found. */
  readonly only?: (path: string) => boolean;
  /** False for what must not hold up anybody: neither room on the server's disk is waited for, unless files are followed, nor
   * that everything can be queried. */
  readonly waits?: boolean;
  readonly stop: AbortSignal;
  readonly onFound?: (files: readonly FoundTrace[]) => void;
  readonly onBytes?: (bytes: number) => void;
  /** The server is waited for: its disk is full or, with `follow`, it is away. */
  readonly onWait?: (reason: string) => void;
}

export interface ImportResult extends ImportTotals, Omit<Found, "files"> {}

const pollMs = 200;

/** Resolves when everything that was read can be queried, or was sent if that is not waited for; with `follow`, after `stop`. */
export async function importPaths(options: ImportOptions): Promise<ImportResult> {
  const { client, paths, runId, follow, stop } = options;
  const pace = createPace(options.speed, stop);
  const sender = createSender({
    client,
    runId,
    imported: !follow && options.live !== true,
    onBytes: options.onBytes ?? (() => undefined),
    patience: { follows: follow, waits: options.waits ?? true, stop, onWait: options.onWait ?? (() => undefined) },
  });
  const readers = new Map<string, Reader>();
  const createReader = (file: FoundTrace): Reader =>
    file.kind.read?.(file, { sender, pace }) ?? new ExportReader(file, { sender, pace });
  const addFound = async (): Promise<Omit<Found, "files">> => {
    const { files, ...rest } = await findFiles(paths);
    const fresh = files.filter(({ path }) => !readers.has(path) && (options.only?.(path) ?? true));
    for (const file of fresh) readers.set(file.path, createReader(file));
    sender.totals.files += fresh.length;
    if (fresh.length > 0) options.onFound?.(fresh);
    return rest;
  };
  const unreadable = new Set<string>();
  /** A file that can no longer be read costs only its own records. */
  const attend = async (path: string, work: () => Promise<void>) => {
    if (unreadable.has(path)) return;
    try {
      await work();
    } catch (error) {
      const { code, syscall } = error as NodeJS.ErrnoException;
      if (code === undefined || syscall === undefined) throw error;
      unreadable.add(path);
      // The spool's cap evicts the oldest files, maybe between listing and reading.
      if (code !== "ENOENT") sender.note({ file: path, code: "unreadable", message: `cannot be read (${code})` });
    }
  };

  let found = await addFound();
  for (const [path, reader] of readers) {
    await attend(path, async () => {
      while (!stop.aborted && (await reader.poll())) {
        // Until this file has nothing more.
      }
    });
  }
  while (follow && !stop.aborted) {
    await sleep(pollMs, undefined, { signal: stop }).catch(() => undefined);
    found = await addFound();
    for (const [path, reader] of readers) await attend(path, async () => void (await reader.poll()));
  }
  for (const [path, reader] of readers) await attend(path, () => reader.finish());
  await sender.settle();
  return { ...sender.totals, ...found };
}

// Replays at the speed things happened, or a multiple of it: what was a second apart is sent a second apart.

const instant: Pace = { waitFor: async () => undefined, windowNs: 0n };

/** `instant`, `realtime`, or a factor such as `10x`. */
function createPace(speed: string, stop: AbortSignal): Pace {
  if (speed === "instant") return instant;
  const factor = speed === "realtime" ? 1 : Number(/^(\d+(?:\.\d+)?)x$/.exec(speed)?.[1]);
  if (!(factor > 0)) {
    throw new Exit(exitCodes.usage, `--speed must be instant, realtime or a factor such as 10x, not ${speed}.`);
  }
  let first: { atNs: bigint; startedMs: number } | undefined;
  return {
    windowNs: BigInt(Math.round(50e6 * factor)),
    async waitFor(atNs) {
      first ??= { atNs, startedMs: performance.now() };
      const dueMs = first.startedMs + Number(atNs - first.atNs) / 1e6 / factor;
      const waitMs = dueMs - performance.now();
      if (waitMs > 1 && !stop.aborted) await sleep(waitMs, undefined, { signal: stop }).catch(() => undefined);
    },
  };
}
