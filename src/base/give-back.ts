// Returns the memory of a burst of work when it is over. The runtime collects only when it needs more, so a process that has
// become quiet keeps what it no longer needs until somebody asks.

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
 * Slow: to be called when nobody waits. As when the heap is nearly full, what is left is moved together: otherwise nearly all
 * pages that the heap grew by stay, each for a little that is in it.
 */
export function giveBackMemory(): void {
  emptyPools();
  collector()({ type: "major", flavor: "last-resort" });
}

/**
 * What was made lately and is garbage by now, which is quick. The runtime does so when its own heap has grown, which says
 * nothing of the bodies that passed beside it.
 */
export function collectYoung(): void {
  collector()({ type: "minor" });
}

/** So much at once that the runtime wants to know what it could give back: twice what it lets pass until it looks. */
const claimedBytes = 128 * 1024 * 1024;

/**
 * Makes the runtime begin to look through the whole heap, beside the program: nobody waits for more than milliseconds. Nothing
 * else asks for that. It takes memory claimed outside the heap for a reason; the system gives none for what is never touched.
 */
export function collectBeside(): void {
  try {
    new ArrayBuffer(claimedBytes).transfer(0);
  } catch {
    // A process that may have few addresses collects when it must.
  }
}
