// Writes whole pieces to a descriptor, synchronously. A pipe with a slow reader answers EAGAIN and gets a moment,
// because half a frame or half a line is worse than a short wait.

import { writeSync } from "node:fs";

const fullPipeWaitMsMax = 2000;
const pauseMs = 2;
const pauseCell = new Int32Array(new SharedArrayBuffer(4));

/** False when not every byte could be written. Never throws. */
export function writeDescriptor(fd: number, bytes: Uint8Array): boolean {
  const until = Date.now() + fullPipeWaitMsMax;
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN" || Date.now() > until) return false;
      Atomics.wait(pauseCell, 0, 0, pauseMs);
    }
  }
  return true;
}
