// What the wrapper has to say, on its way to the server. The program never waits for it: requests queue in memory up to a
// bound, and go to disk when the server is away or slow.

import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "#cli/client.ts";
import { isFinal, replayFolder, type SpooledRequest, sendRequest, writeRequest } from "./spool.ts";

export interface Outbox {
  add(request: SpooledRequest): void;
  /** Sends what is left, for as long as given; returns how many requests stay on disk. */
  close(withinMs: number): Promise<number>;
}

export interface OutboxOptions {
  readonly client: Client;
  /** Where requests wait that cannot be sent. */
  readonly folder: string;
}

const queuedBytesMax = 64 * 1024 * 1024;
const retryMs = 2000;

export function createOutbox({ client, folder }: OutboxOptions): Outbox {
  let queue: SpooledRequest[] = [];
  let queuedBytes = 0;
  let spooled = 0;
  let written = 0;
  let away = false;
  let closing = false;
  let wake: () => void = () => undefined;

  const spool = async (request: SpooledRequest) => {
    await writeRequest(folder, written++, request);
    spooled++;
  };
  const drainSpool = async () => {
    if (spooled === 0) return;
    // What a server that has just come up took in by itself is gone from the folder too.
    await replayFolder(client, folder);
    spooled = 0;
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
      while (spooled > 0) {
        const done = await drainSpool().then(
          () => true,
          () => false,
        );
        if (done || performance.now() > deadline) break;
        await sleep(200);
      }
      return spooled;
    },
  };
}
