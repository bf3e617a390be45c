// A transport of the Model Context Protocol that knows which requests are pending, so that those sent right before the input
// ended are still answered.

import { setTimeout as sleep } from "node:timers/promises";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";

/** A request that is answered only by notifications. */
const listen = "subscriptions/listen";

export class AnsweringTransport implements Transport {
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  onmessage?: Transport["onmessage"];
  private readonly inner: Transport;
  private readonly open = new Set<unknown>();
  private onAnswered: () => void = () => undefined;

  constructor(inner: Transport) {
    this.inner = inner;
    inner.onclose = () => this.onclose?.();
    inner.onerror = (error) => this.onerror?.(error);
    inner.onmessage = (message, extra) => {
      this.hear(message);
      this.onmessage?.(message, extra);
    };
  }

  start(): Promise<void> {
    return this.inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.inner.send(message);
    if ("id" in message && !("method" in message)) this.settle(message.id);
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  /** Resolves when every request that came has its answer, or when that takes too long. */
  async answered(limitMs: number): Promise<void> {
    if (this.open.size === 0) return;
    const done = new Promise<void>((resolve) => {
      this.onAnswered = resolve;
    });
    await Promise.race([done, sleep(limitMs, undefined, { ref: false })]);
  }

  private hear(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    if ("id" in message && message.method !== listen) this.open.add(message.id);
    // A cancelled request gets no answer.
    if (message.method === "notifications/cancelled") this.settle(message.params?.["requestId"]);
  }

  private settle(id: unknown): void {
    this.open.delete(id);
    if (this.open.size === 0) this.onAnswered();
  }
}
