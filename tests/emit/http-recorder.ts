// A small HTTP server that records what clients send and answers as a test tells it to.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { onTestFinished } from "vitest";

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
  /** Unpacked. */
  readonly body: Buffer;
  readonly atMs: number;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  /** Say nothing at all: the client runs into its timeout. */
  readonly silent?: boolean;
}

export async function startRecorder(answer: (request: RecordedRequest, count: number) => Answer) {
  const requests: RecordedRequest[] = [];
  const listeners = new Set<() => void>();
  const server = createServer((incoming, outgoing: ServerResponse) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const rawBody = Buffer.concat(chunks);
      const request: RecordedRequest = {
        method: incoming.method ?? "",
        path: incoming.url ?? "",
        headers: incoming.headers,
        rawBody,
        body: incoming.headers["content-encoding"] === "gzip" ? gunzipSync(rawBody) : rawBody,
        atMs: performance.now(),
      };
      requests.push(request);
      const { status, headers, silent } = answer(request, requests.length);
      if (!silent) outgoing.writeHead(status, headers).end();
      for (const listener of listeners) listener();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    /** Resolves when a condition on the requests holds. */
    until: (condition: () => boolean) =>
      new Promise<void>((done) => {
        const look = () => {
          if (!condition()) return;
          listeners.delete(look);
          done();
        };
        listeners.add(look);
        look();
      }),
  };
}
