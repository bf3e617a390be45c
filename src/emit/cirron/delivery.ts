// Starts the sender in a worker thread, or in this thread when there is no worker file (bundled programs).

import { Worker } from "node:worker_threads";
import { closeConnections } from "./http.ts";
import { Sender, type SenderCounts, type SenderOptions } from "./sender.ts";
import type { SenderCommand, SenderReply } from "./sender-worker.ts";

export interface Delivering {
  /** A batch was written. */
  wake(): void;
  readonly counts: SenderCounts;
  /** Resolves when all is sent or the time is up. Never rejects. */
  drain(timeoutMs: number): Promise<void>;
  close(): void;
}

// In the checkout the worker is TypeScript, in the package it is a bundle beside this one.
const workerFile = `./sender-worker.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`;

export function createDelivery(options: SenderOptions): Delivering {
  try {
    return new WorkerDelivery(options);
  } catch {
    return new ThreadDelivery(options);
  }
}

class ThreadDelivery implements Delivering {
  private readonly sender: Sender;

  constructor(options: SenderOptions) {
    this.sender = new Sender(options);
    this.sender.wake();
  }

  get counts(): SenderCounts {
    return this.sender.counts;
  }

  wake(): void {
    this.sender.wake();
  }

  async drain(timeoutMs: number): Promise<void> {
    // The sender's own timers do not keep the process alive, so the waiter has to.
    const hold = setInterval(() => undefined, 1000);
    await this.sender.drain(timeoutMs).finally(() => clearInterval(hold));
  }

  close(): void {
    this.sender.close();
    closeConnections();
  }
}

class WorkerDelivery implements Delivering {
  private reported: SenderCounts = { sent: 0, refused: 0, waiting: 0 };
  private handed = 0;
  private readonly worker: Worker;
  private fallback: ThreadDelivery | null = null;
  private isClosed = false;
  private onDrained: (() => void) | null = null;

  constructor(options: SenderOptions) {
    this.worker = new Worker(new URL(workerFile, import.meta.url), {
      workerData: options,
      name: "tributary-sender",
      // The program's flags (--require hooks, profilers, test runners) are not meant for our thread.
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    this.worker.on("message", (reply: SenderReply) => {
      const { sent, refused, waiting } = reply;
      this.reported = { sent, refused, waiting };
      if (reply.kind === "drained") this.onDrained?.();
    });
    this.worker.on("error", () => {
      if (!this.isClosed) this.fallback ??= new ThreadDelivery(options);
      this.onDrained?.();
    });
    // Last, because listening for messages makes the thread count again.
    this.worker.unref();
  }

  /** As long as the thread has not answered, everything it was handed counts as waiting. */
  get counts(): SenderCounts {
    const { sent, refused, waiting } = this.fallback?.counts ?? this.reported;
    return { sent, refused, waiting: Math.max(waiting, this.handed - sent - refused) };
  }

  wake(): void {
    this.handed++;
    if (this.fallback !== null) this.fallback.wake();
    else this.worker.postMessage({ kind: "wake" } satisfies SenderCommand);
  }

  async drain(timeoutMs: number): Promise<void> {
    if (this.fallback === null) await this.drainWorker(timeoutMs);
    if (this.fallback !== null) await this.fallback.drain(timeoutMs);
  }

  close(): void {
    this.isClosed = true;
    this.fallback?.close();
    void this.worker.terminate().catch(() => undefined);
  }

  private drainWorker(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs + 500);
      this.onDrained = () => {
        clearTimeout(timer);
        resolve();
      };
      this.worker.postMessage({ kind: "drain", timeoutMs } satisfies SenderCommand);
    });
  }
}
