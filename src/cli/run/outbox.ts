// The wrapper's requests on their way to the server. The program never waits for them: they queue in memory up to a bound,
// and are kept on disk while the server is away or slow.

import { setTimeout as sleep } from "node:timers/promises";
import { type KeptOptions, KeptRequests, type Left } from "./kept-requests.ts";
import { type SpooledRequest, sendRequest } from "./spool.ts";

export interface Outbox {
  add(request: SpooledRequest): void;
  /** Sends what is left, for as long as given. */
  close(withinMs: number): Promise<Left>;
}

const queuedBytesMax = 64 * 1024 * 1024;
const retryMs = 2000;

export function createOutbox(options: Omit<KeptOptions, "heldBytesMax">): Outbox {
  const { client } = options;
  const kept = new KeptRequests({ ...options, heldBytesMax: queuedBytesMax });
  let queue: SpooledRequest[] = [];
  let queuedBytes = 0;
  let away = false;
  let closing = false;
  let wake: () => void = () => undefined;

  /** Whether the server has taken all that was kept. */
  const drain = () =>
    kept.drain().then(
      () => true,
      () => false,
    );
  const deliver = async (request: SpooledRequest) => {
    if (away || queuedBytes > queuedBytesMax) return kept.add(request);
    try {
      await sendRequest(client, request);
    } catch {
      away = true;
      await kept.add(request);
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
      if (away && !closing && performance.now() - triedMs > retryMs) {
        triedMs = performance.now();
        away = !(await drain());
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
      while (!kept.isEmpty && performance.now() < deadline && !(await drain())) await sleep(200);
      return kept.left;
    },
  };
}
