// Requests that could not be sent, kept on disk until a server takes them. One file each, in the order of their names:
//
//   <folder>/<n, 10 digits>.request    one line of JSON {"route", "params", "query"} · LF · the body
//
// A file gets its name only when it is whole. Whoever replays it deletes it after the server has answered; replaying twice
// is harmless, since every record has an identity.

import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ApiError, type Client } from "#cli/client.ts";
import type { IngestRoute } from "#protocol/facts.ts";

export interface SpooledRequest {
  readonly route: IngestRoute;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | number>>;
  readonly body: Uint8Array;
}

/** Where the requests of all wrappers wait, each in its own folder. */
export function toSpoolRoot(dataDir: string): string {
  return join(dataDir, "spool");
}

const suffix = ".request";
const newline = 0x0a;

export async function writeRequest(folder: string, n: number, request: SpooledRequest): Promise<void> {
  const { body, ...head } = request;
  await mkdir(folder, { recursive: true });
  const path = join(folder, String(n).padStart(10, "0") + suffix);
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
  // Synced before it gets its name, or a loss of power could leave an empty file under it.
  await writeFile(`${path}.tmp`, bytes, { flush: true });
  await rename(`${path}.tmp`, path);
}

/** Null for bytes that are no request: the disk damaged the file. */
function decodeRequest(bytes: Uint8Array): SpooledRequest | null {
  const end = bytes.indexOf(newline);
  try {
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))) as Omit<SpooledRequest, "body">;
    return { ...head, body: bytes.subarray(end + 1) };
  } catch {
    return null;
  }
}

/** Rejects when the server may take it later. What the server will never take it has kept as a fault. */
export async function sendRequest(client: Client, { route, params, query, body }: SpooledRequest): Promise<void> {
  try {
    await client.open(route, { params, query } as never, { raw: { bytes: body } });
  } catch (error) {
    if (!isFinal(error)) throw error;
  }
}

/** A server that has no room, or wants another key, may take a request later; what it cannot read it never will. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status < 500 && error.status !== 401 && error.status !== 403 && error.status !== 429;
}

/** Sends everything that waits; returns how many requests were taken. Stops at the first that the server cannot take now. */
export async function replaySpool(client: Client, dataDir: string): Promise<number> {
  const root = toSpoolRoot(dataDir);
  let taken = 0;
  for (const name of await listNames(root)) taken += await replayFolder(client, join(root, name));
  return taken;
}

export async function replayFolder(client: Client, folder: string): Promise<number> {
  let taken = 0;
  for (const name of await listNames(folder)) {
    if (!name.endsWith(suffix)) continue;
    const path = join(folder, name);
    const bytes = await readFile(path).catch(() => undefined);
    // Another process may replay the same folder; the second one finds the file gone.
    if (!bytes) continue;
    const request = decodeRequest(bytes);
    if (request === null) {
      // Out of the way, so that the requests after it are sent.
      await rename(path, `${path}.damaged`).catch(() => undefined);
      continue;
    }
    await sendRequest(client, request);
    await rm(path, { force: true });
    taken++;
  }
  await rmdir(folder).catch(() => undefined);
  return taken;
}

async function listNames(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).sort();
}
