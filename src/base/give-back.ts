// Returns memory to the system after a burst of work. The runtime collects only when it needs more, so a process that has
// become quiet would keep what it no longer needs.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { emptyPools } from "./array-pool.ts";

type Collect = (
  options: { readonly type: "minor" } | { readonly type: "major"; readonly flavor: "last-resort" },
) => void;
let collect: Collect | undefined;

function collector(): Collect {
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as Collect;
  }
  return collect;
}

/**
 * Slow: to be called when nobody waits. It compacts the heap, as the runtime does when the heap is nearly full: otherwise
 * nearly every page stays, because a little of each is in use.
 */
export function giveBackMemory(): void {
  emptyPools();
  collector()({ type: "major", flavor: "last-resort" });
}

/**
 * Collects recent garbage, which is quick. The runtime itself does so when its heap has grown, and does not count the bodies
 * of requests, which lie outside it.
 */
export function collectYoung(): void {
  collector()({ type: "minor" });
}

/** Twice what can be allocated outside the heap before the runtime starts a collection. */
const claimedBytes = 128 * 1024 * 1024;

/**
 * Makes the runtime start a collection of the whole heap beside the program, which stops nobody for more than milliseconds.
 * No call asks for that, but a large allocation outside the heap causes it, and memory that is never touched costs nothing.
 */
export function collectBeside(): void {
  try {
    new ArrayBuffer(claimedBytes).transfer(0);
  } catch {
    // Where address space is limited, the runtime collects when it must.
  }
}
