// Returns the memory of a burst of work when it is over. The runtime collects only when it needs more, so a process that has
// become quiet keeps what it no longer needs until somebody asks.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { emptyPools } from "./array-pool.ts";

let collect: (() => void) | undefined;

/** Slow: to be called when nobody waits. */
export function giveBackMemory(): void {
  emptyPools();
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
  }
  collect();
}
