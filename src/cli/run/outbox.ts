// What the wrapper has to say, on its way to the server. The program never waits for it: requests queue in memory up to a
// bound, and go to disk when the server is away or slow. Those that the disk does not take either are held in memory, up
// to the same bound; beyond it they are lost and counted.

import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "#cli/client.ts";
import { isFinal, replayFolder, type SpooledRequest, sendRequest, writeRequest } from "./spool.ts";

export interface Outbox {
  add(request: SpooledRequest): void;
  /** Sends what is left, for as long as given. */
  close(withinMs: number): Promise<Left>;
}

/** Requests that no server has taken. */
export interface Left {
  /** They wait on disk for a server. */
  readonly spooled: number;
  /** Neither the disk nor memory could keep them. */
  readonly lost: number;
}

export interface OutboxOptions {
  readonly client: Client;
  /** Where requests wait that cannot be sent. */
  readonly folder: string;
  /** Told once, with the system's code. */
  onUnwritable(code: string | undefined): void;
}

const queuedBytesMax = 64 * 1024 * 1024;
const retryMs = 2000;

export function createOutbox({ client, folder, onUnwritable }: OutboxOptions): Outbox {
  let queue: SpooledRequest[] = [];
  let queuedBytes = 0;
  const held: SpooledRequest[] = [];
  let heldBytes = 0;
  let lost = 0;
  let isWritable = true;
  let spooled = 0;
  let written = 0;
  let away = false;
  let closing = false;
  let wake: () => void = () => undefined;

  const hold = (request: SpooledRequest) => {
    if (heldBytes + request.body.length > queuedBytesMax) {
      lost++;
      return;
    }
    held.push(request);
    heldBytes += request.body.length;
  };
  const spool = async (request: SpooledRequest) => {
    try {
      await writeRequest(folder, written++, request);
      spooled++;
    } catch (error) {
      if (isWritable) onUnwritable((error as NodeJS.ErrnoException).code);
      isWritable = false;
      hold(request);
    }
  };
  const drainHeld = async () => {
    for (let first = held[0]; first !== undefined; first = held[0]) {
      await sendRequest(client, first).catch((error: unknown) => {
        if (!isFinal(error)) throw error;
      });
      held.shift();
      heldBytes -= first.body.length;
    }
  };
  const drainSpool = async () => {
    // What a server that has just come up took in by itself is gone from the folder too.
    if (spooled > 0) await replayFolder(client, folder);
    spooled = 0;
    await drainHeld();
  };
  const deliver = async (request: SpooledRequest) => {
    if (away || queuedBytes > queuedBytesMax) return spool(request);
    try {
      await sendRequest(client, request);
    } catch (error) {
      if (isFinal(error)) return;
      away = true;
      await spool(request);
    }
  };
  const run = async () => {
    let triedMs = 0;
    while (!closing || queue.length > 0) {
      const taken = queue;
      queue = [];
      for (const request of taken) {
        queuedBytes -= request.body.length;
        await deliver(request);
      }
      if (away && performance.now() - triedMs > retryMs) {
        triedMs = performance.now();
        away = !(await drainSpool().then(
          () => true,
          () => false,
        ));
      }
      if (queue.length === 0 && !closing) {
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await Promise.race(away ? [woken, sleep(retryMs, undefined, { ref: false })] : [woken]);
      }
    }
  };
  const running = run();

  return {
    add(request) {
      queue.push(request);
      queuedBytes += request.body.length;
      wake();
    },
    async close(withinMs) {
      closing = true;
      wake();
      const deadline = performance.now() + withinMs;
      await running;
      while (spooled + held.length > 0) {
        const done = await drainSpool().then(
          () => true,
          () => false,
        );
        if (done || performance.now() > deadline) break;
        await sleep(200);
      }
      return { spooled, lost: lost + held.length };
    },
  };
}
