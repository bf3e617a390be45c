// Requests that the HTTP library gave up before any route saw them, answered in the one error shape. A request that did
// not arrive in time gets 503: the delay may have been ours, and clients throw a batch away on most 4xx.

import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Refusal } from "#api/refusal.ts";

interface ClientError extends Error {
  readonly code?: string;
  /** What could not be read as HTTP. */
  readonly rawPacket?: Uint8Array;
}

const requestTimeout = "ERR_HTTP_REQUEST_TIMEOUT";

/** `workersAt`: where workers connect, for those who took the wrong port; '' if nowhere. */
export function answerClientError(error: ClientError, socket: Socket, workersAt: string): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy(error);
    return;
  }
  // Browsers open connections in advance, and would take this for the answer to the first request that they send there.
  if (error.code === requestTimeout && socket.bytesRead === 0) {
    socket.destroy();
    return;
  }
  endWithRefusal(socket, toRefusal(error, workersAt));
}

/** For a connection that no route answers. */
export function endWithRefusal(socket: Duplex, refusal: Refusal): void {
  const body = JSON.stringify(refusal.toAnswer());
  const head = [
    `HTTP/1.1 ${refusal.status} Refused`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(refusal.headers).map(([name, value]) => `${name}: ${value}`),
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function toRefusal({ code, rawPacket }: ClientError, workersAt: string): Refusal {
  if (code === requestTimeout) {
    return new Refusal("request_slow", "The request did not arrive in time; nothing of it was taken.", {
      hint: "Send it again.",
      headers: { "retry-after": "1" },
    });
  }
  if (code === "HPE_HEADER_OVERFLOW") {
    return new Refusal("request_invalid", "The headers are larger than the limit.", { status: 431 });
  }
  // The length of an XTrack frame begins with a zero byte; no request does.
  const isFrame = rawPacket?.[0] === 0;
  const port = workersAt === "" ? "" : ` connect to ${workersAt}, or`;
  return new Refusal("request_invalid", isFrame ? "This is not HTTP; it looks like XTrack." : "This is not HTTP.", {
    hint: isFrame ? `XTrack workers${port} post their frames to /v1/xtrack.` : "",
  });
}
