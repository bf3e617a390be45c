// A worker's connection, and what it writes: four bytes of length, then JSON.

import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** What comes back is not looked at. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket.resume();
}

/** Gives the longest that the socket would not take more, in ms. */
export async function sendChunks(port: number, chunks: readonly Buffer[]): Promise<number> {
  const socket = await openSocket(port);
  let longestMs = 0;
  for (const chunk of chunks) {
    const began = performance.now();
    const taken = new Promise((resolve) => socket.write(chunk, resolve));
    const isFull = socket.writableLength > 0;
    await taken;
    if (isFull) longestMs = Math.max(longestMs, performance.now() - began);
  }
  socket.end();
  await once(socket, "close");
  return longestMs;
}

/** The text has no character beyond ASCII. */
export function toFrame(json: string): Buffer {
  const frame = Buffer.allocUnsafe(4 + json.length);
  frame.writeUInt32BE(json.length);
  frame.write(json, 4, "latin1");
  return frame;
}

export function toEvent(type: string, m: { seq: number; ts: number; wid?: string }, p: object): Buffer {
  return toFrame(JSON.stringify({ v: 1, t: type, m, p }));
}

/** The texts of whole frames. */
export function textsOf(frames: Buffer): Uint8Array[] {
  const texts: Uint8Array[] = [];
  for (let at = 0; at + 4 <= frames.length; ) {
    const end = at + 4 + frames.readUInt32BE(at);
    texts.push(frames.subarray(at + 4, end));
    at = end;
  }
  return texts;
}
