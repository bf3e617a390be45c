// The thread of `sendLastWords`.

import { workerData } from "node:worker_threads";
import { delivered, undelivered } from "./last-words.ts";
import { Link } from "./link.ts";
import { openTransport } from "./open-transport.ts";
import { Outbox } from "./outbox.ts";
import type { TransportChoice } from "./settings.ts";

export interface LastWords {
  readonly choice: TransportChoice;
  readonly apiKey: string;
  /** Sent first: the key, if there is one. */
  readonly greeting: Uint8Array | null;
  readonly runId: string;
  readonly wid: string;
  /** The run's run_start, which asks for acks; null when it is among the frames. */
  readonly runStart: Uint8Array | null;
  /** Frames back to back, their sequence numbers, and where each ends. */
  readonly frames: Uint8Array;
  readonly seqs: readonly number[];
  readonly ends: readonly number[];
  readonly timeoutMs: number;
}

export interface LastWordsJob extends LastWords {
  /** One cell: 0 not yet, `delivered` or `undelivered`. */
  readonly cell: SharedArrayBuffer;
}

await send(workerData as LastWordsJob);

async function send({ choice, apiKey, greeting, runId, wid, timeoutMs, cell, ...job }: LastWordsJob): Promise<void> {
  const outbox = new Outbox(Number.POSITIVE_INFINITY, "newest");
  const link = new Link({
    open: (heard) => openTransport(choice, apiKey, heard),
    outbox,
    greeting,
    triesOnce: true,
    onMessage: (type, _meta, payload) => {
      const { run_id = runId, wid: worker = wid, seq, status } = payload;
      if (type === "ack" && run_id === runId && worker === wid && typeof seq === "number")
        outbox.confirm(seq, status !== "error");
    },
  });
  if (job.runStart !== null) link.sendControl(job.runStart);
  job.seqs.forEach((seq, at) => {
    outbox.push(seq, job.frames.subarray(job.ends[at - 1] ?? 0, job.ends[at]), false);
  });
  const isDelivered = await link.drain(timeoutMs);
  const flag = new Int32Array(cell);
  Atomics.store(flag, 0, isDelivered ? delivered : undelivered);
  Atomics.notify(flag, 0);
}
