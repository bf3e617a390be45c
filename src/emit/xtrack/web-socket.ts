// Frames over a WebSocket. Written here rather than with the global WebSocket, which cannot be told to let
// the process end and does not say how much it has buffered.
//
// A WebSocket frame: 1 byte FIN + opcode · 1 byte MASK + length (126: 2 more bytes, 127: 8 more) ·
// 4 bytes mask when MASK is set (always from client to server, never back) · payload.
// XTrack frames carry their own lengths, so message boundaries mean nothing here.

import { createHash, randomBytes } from "node:crypto";
import type { ClientRequest } from "node:http";
import { request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import { requestHttp } from "#base/node-http.ts";
import type { Transport, TransportEvents } from "./transport.ts";

const acceptSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const finBit = 0x80;
const maskBit = 0x80;
const opBinary = 2;
const opClose = 8;
const opPing = 9;
const opPong = 10;
const payloadBytesMax = 16 * 1024 * 1024;

export function openWebSocket(url: string, apiKey: string, events: TransportEvents): Transport {
  return new WebSocketTransport(url, apiKey, events);
}

class WebSocketTransport implements Transport {
  readonly isReady = false;
  readonly accepts = ["ack", "command"] as const;
  private outgoing: ClientRequest | null = null;
  private socket: Socket | null = null;
  private isHeld = false;
  private isEnding = false;
  private isClosed = false;
  private received: Buffer = Buffer.alloc(0);
  private readonly events: TransportEvents;

  constructor(url: string, apiKey: string, events: TransportEvents) {
    this.events = events;
    try {
      this.upgrade(url, apiKey);
    } catch {
      // Not a URL: no more hope than a server that is not there.
      queueMicrotask(() => this.close(`${url} is not the address of a WebSocket`));
    }
  }

  get pendingBytes(): number {
    return this.socket?.writableLength ?? 0;
  }

  write(frames: Uint8Array): boolean {
    return this.socket?.write(encodeClientFrame(opBinary, frames)) ?? false;
  }

  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    if (isHeld) this.socket?.ref();
    else this.socket?.unref();
  }

  end(): void {
    this.isEnding = true;
    this.socket?.write(encodeClientFrame(opClose, Uint8Array.of(0x03, 0xe8)));
    if (this.socket === null) this.close();
  }

  destroy(): void {
    this.isEnding = true;
    this.outgoing?.destroy();
    this.close();
  }

  private upgrade(url: string, apiKey: string): void {
    const key = randomBytes(16).toString("base64");
    const target = new URL(url.replace(/^ws/, "http"));
    const outgoing = (target.protocol === "https:" ? requestHttps : requestHttp)(target, {
      headers: {
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": key,
        ...(apiKey === "" ? {} : { Authorization: `Bearer ${apiKey}` }),
      },
    });
    this.outgoing = outgoing;
    outgoing.on("socket", (socket) => {
      if (!this.isHeld) socket.unref();
    });
    outgoing.on("response", (incoming) => {
      incoming.resume();
      // A wrong key or path stays wrong; a busy server does not stay busy.
      const { statusCode = 0 } = incoming;
      this.close(statusCode >= 400 && statusCode < 429 ? `${url} answers ${statusCode}` : undefined);
    });
    outgoing.on("error", () => this.close());
    outgoing.on("upgrade", (incoming, socket, head) => {
      const expected = createHash("sha1")
        .update(key + acceptSuffix)
        .digest("base64");
      if (incoming.headers["sec-websocket-accept"] === expected && !this.isEnding) this.start(socket as Socket, head);
      else socket.destroy();
    });
    outgoing.on("close", () => {
      if (this.socket === null) this.close();
    });
    outgoing.end();
  }

  private start(socket: Socket, head: Buffer): void {
    this.socket = socket;
    socket.setNoDelay(true);
    this.hold(this.isHeld);
    socket.on("drain", () => this.events.onRoom());
    socket.on("data", (chunk: Buffer) => this.take(chunk));
    socket.on("error", () => this.close());
    socket.on("end", () => this.close());
    socket.on("close", () => this.close());
    this.events.onOpen();
    if (head.length > 0) this.take(head);
  }

  private take(chunk: Buffer): void {
    this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    for (;;) {
      const frame = readServerFrame(this.received);
      if (frame === "wait") return;
      if (frame === "broken") {
        this.close();
        return;
      }
      this.received = this.received.subarray(frame.end);
      if (frame.opcode === opPing) this.socket?.write(encodeClientFrame(opPong, frame.payload));
      else if (frame.opcode === opClose) {
        if (!this.isEnding) this.socket?.write(encodeClientFrame(opClose, frame.payload));
        this.socket?.end();
      } else if (frame.opcode !== opPong) this.events.onBytes(frame.payload);
    }
  }

  private close(problem?: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.socket?.destroy();
    this.events.onClose(problem);
  }
}

function encodeClientFrame(opcode: number, payload: Uint8Array): Uint8Array {
  const size = payload.length;
  const sizeBytes = size < 126 ? 0 : size < 65_536 ? 2 : 8;
  const frame = Buffer.allocUnsafe(2 + sizeBytes + 4 + size);
  frame[0] = finBit | opcode;
  frame[1] = maskBit | (sizeBytes === 0 ? size : sizeBytes === 2 ? 126 : 127);
  if (sizeBytes === 2) frame.writeUInt16BE(size, 2);
  if (sizeBytes === 8) frame.writeBigUInt64BE(BigInt(size), 2);
  const mask = randomBytes(4);
  const start = 2 + sizeBytes + 4;
  frame.set(mask, start - 4);
  for (let i = 0; i < size; i++) frame[start + i] = (payload[i] as number) ^ (mask[i & 3] as number);
  return frame;
}

type ServerFrame = { readonly opcode: number; readonly payload: Buffer; readonly end: number };

function readServerFrame(bytes: Buffer): ServerFrame | "wait" | "broken" {
  if (bytes.length < 2) return "wait";
  const second = bytes[1] as number;
  if ((second & maskBit) !== 0) return "broken";
  const short = second & 127;
  const sizeBytes = short < 126 ? 0 : short === 126 ? 2 : 8;
  if (bytes.length < 2 + sizeBytes) return "wait";
  const size = sizeBytes === 0 ? short : sizeBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (size > payloadBytesMax) return "broken";
  const end = 2 + sizeBytes + size;
  if (bytes.length < end) return "wait";
  return { opcode: (bytes[0] as number) & 15, payload: bytes.subarray(2 + sizeBytes, end), end };
}
