// The ids of recent faults, 32 hex digits each, in two halves: when the newer one is full the older one is dropped. The store
// is asked about older ids.

import { IdMap } from "./id-map.ts";
import { loadIdentity } from "./record-identity.ts";

const halfMax = 100_000;

export class RecentIds {
  private current = new IdMap();
  private previous = new IdMap();

  /** Nothing was ever dropped. */
  isWhole = true;

  /** Whether it came lately. */
  has(id: string, workspace: string): boolean {
    loadIdentity(Buffer.from(id, "hex"), workspace);
    return this.current.get() >= 0 || this.previous.get() >= 0;
  }

  /** False when it was known already. */
  add(id: string, workspace: string): boolean {
    if (this.has(id, workspace)) return false;
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
