// What all clients of the campaign share: the server they send to, the ledger they answer to, and patience.

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Backups } from "./backups.ts";
import type { CommandLedger } from "./command-ledger.ts";
import type { Ledger } from "./ledger.ts";
import type { PoweredDisk } from "./power/powered-disk.ts";
import type { Victim } from "./victim.ts";

export interface Field {
  readonly victim: Victim;
  readonly ledger: Ledger;
  readonly commands: CommandLedger;
  readonly backups: Backups;
  /** Null where the power cannot be cut. */
  readonly disk: PoweredDisk | null;
  /** What each client waits after a request, beside what it waits anyway. */
  readonly pauseMs: number;
  readonly stopped: AbortSignal;
}

const answerMs = 30_000;

export const hex = (): string => randomBytes(16).toString("hex");

/** Null when there was no whole answer. */
export async function call(
  { victim }: Pick<Field, "victim">,
  path: string,
  init: RequestInit = {},
): Promise<{ readonly status: number; readonly bytes: Buffer } | null> {
  try {
    const answer = await fetch(victim.url + path, { ...init, signal: AbortSignal.timeout(answerMs) });
    return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
  } catch {
    return null;
  }
}

/** Sends until the server has taken it, or for a while after the end: then it counts as never answered. */
export async function deliver(
  field: Field,
  path: string,
  body: Uint8Array,
  headers: Record<string, string>,
): Promise<boolean> {
  const init = { method: "POST", body: new Uint8Array(body), headers };
  for (let late = 0; late < 200; ) {
    const answer = await call(field, path, init);
    if (answer?.status === 200 || answer?.status === 202) return true;
    if (answer !== null && answer.status < 500 && answer.status !== 429)
      throw new Error(`${path} was answered with ${answer.status}: ${answer.bytes.toString("utf8", 0, 500)}`);
    if (field.stopped.aborted) late++;
    await sleep(50);
  }
  return false;
}
