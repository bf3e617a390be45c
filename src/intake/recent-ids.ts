// Recent ids, in two halves: when the newer one is full the older one is dropped. The store is asked about older ids.

import { IdMap } from "./id-map.ts";

const halfMax = 100_000;

export class RecentIds {
  private current = new IdMap();
  private previous = new IdMap();

  /** Nothing was ever let go. */
  isWhole = true;

  /** Whether the id in `idWords` came lately. */
  has(): boolean {
    return this.current.get() >= 0 || this.previous.get() >= 0;
  }

  /** Adds the id in `idWords`; false when it was there. */
  add(): boolean {
    if (this.has()) return false;
    this.current.set(0);
    return true;
  }

  /** To be called when everything that was added is stored. */
  shrink(everything = false): void {
    if (!everything && this.current.size < halfMax) return;
    if (this.previous.size > 0 || everything) this.isWhole = false;
    this.previous = everything ? new IdMap() : this.current;
    this.current = new IdMap();
  }
}
