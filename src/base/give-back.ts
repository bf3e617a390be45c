// Returns the memory of a burst of work when it is over. The runtime collects only when it needs more, so a process that has
// become quiet keeps what it no longer needs until somebody asks.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { emptyPools } from "./array-pool.ts";

type Collect = (options?: { readonly type: "minor" }) => void;
let collect: Collect | undefined;

function collector(): Collect {
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as Collect;
  }
  return collect;
}

/** Slow: to be called when nobody waits. */
export function giveBackMemory(): void {
  emptyPools();
  collector()();
}

/**
 * What was made lately and is garbage by now, which is quick. The runtime does so when its own heap has grown, which says
 * nothing of the bodies that passed beside it.
 */
export function collectYoung(): void {
  collector()({ type: "minor" });
}
