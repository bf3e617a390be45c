// A disk with a cache of its own for the kernel, which asks for its sectors on descriptor 3: `node cached-disk.ts MEDIUM CACHE`.
// It does one thing at a time, so that a signal stops it between two of them or in the middle of one.

import { readSync, writeSync } from "node:fs";
import { CachedDisk } from "../chaos/power/cached-disk.ts";
import { answer, requestBytesMax } from "../chaos/power/fuse.ts";

const kernel = 3;
/** Somebody else took the request back, or a signal came in between, or it is not mounted yet. */
const again = new Set(["ENOENT", "EINTR", "EAGAIN", "EPERM"]);

const disk = new CachedDisk(process.argv[2] as string, process.argv[3] as string);
const pause = new Int32Array(new SharedArrayBuffer(4));
const request = Buffer.alloc(requestBytesMax);
for (;;) {
  try {
    const length = readSync(kernel, request);
    const reply = answer(disk, request.subarray(0, length));
    if (reply !== null) writeSync(kernel, reply);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // It was unmounted.
    if (code === "ENODEV") break;
    if (!again.has(code ?? "")) throw error;
    if (code === "EPERM") Atomics.wait(pause, 0, 0, 10);
  }
}
