// A client that costs little beside the server it loads: requests are prepared bytes, written to plain sockets one at a
// time, and only the status of an answer is read.

import { once } from "node:events";
import { connect, type Socket } from "node:net";

const timeoutMs = 40_000;

export interface RawLoad {
  readonly requests: readonly Buffer[];
  readonly connections: number;
  /** A connection for every request, as clients without keep-alive make it. */
  readonly isFresh?: boolean;
  /** Requests a second over all connections. Without it, each follows the answer to the one before. */
  readonly perSecond?: number;
}

export interface RawResult {
  readonly sent: number;
  readonly refused: number;
  readonly latenciesMs: number[];
}

export function toRequest(path: string, body: Buffer, headers: readonly string[], isFresh = false): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    `connection: ${isFresh ? "close" : "keep-alive"}`,
    `content-length: ${body.length}`,
    ...headers,
    "",
    "",
  ].join("\r\n");
  return Buffer.concat([Buffer.from(head, "latin1"), body]);
}

export async function sendRaw(port: number, load: RawLoad): Promise<RawResult> {
  const { requests, connections, isFresh = false, perSecond } = load;
  const latenciesMs: number[] = [];
  let refused = 0;
  let next = 0;
  const startMs = performance.now();
  const worker = async (): Promise<void> => {
    let lane: Lane | undefined;
    while (next < requests.length && performance.now() - startMs < timeoutMs) {
      const at = next++;
      if (perSecond !== undefined) await until(startMs + (at * 1000) / perSecond);
      const began = performance.now();
      lane ??= await Lane.open(port);
      const status = await lane.ask(requests[at] as Buffer);
      latenciesMs.push(performance.now() - began);
      if (status < 200 || status > 299) refused++;
      if (isFresh) {
        lane.close();
        lane = undefined;
      }
    }
    lane?.close();
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return { sent: latenciesMs.length, refused, latenciesMs };
}

async function until(dueMs: number): Promise<void> {
  const waitMs = dueMs - performance.now();
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
}

/** One connection, which has one request under way at a time. */
export class Lane {
  private readonly socket: Socket;
  private text = "";
  private answer: ((status: number) => void) | undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => this.read(chunk));
    socket.on("error", () => this.settle(0));
    socket.on("close", () => this.settle(0));
  }

  static async open(port: number): Promise<Lane> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new Lane(socket);
  }

  get isOpen(): boolean {
    return this.socket.writable;
  }

  /** Resolves with the status, which may come before all of the request has left; with 0 when the connection ends first. */
  ask(request: Buffer): Promise<number> {
    return new Promise((resolve) => {
      this.answer = resolve;
      this.socket.write(request);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private read(chunk: string): void {
    this.text += chunk;
    const end = this.text.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(this.text)?.[1] ?? 0);
    if (this.text.length < end + 4 + length) return;
    const status = Number(this.text.slice(9, 12));
    this.text = this.text.slice(end + 4 + length);
    this.settle(status);
  }

  private settle(status: number): void {
    const { answer } = this;
    this.answer = undefined;
    answer?.(status);
  }
}
