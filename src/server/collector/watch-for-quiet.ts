// At full speed the server holds more memory than when it is quiet: groups, rows for late subscribers, pools. This
// gives it back.

import { giveBackMemory } from "#base/give-back.ts";
import type { Strain } from "#config/memory-shares.ts";
import type { ProtocolApplier } from "#intake/applier.ts";
import type { LiveHub } from "#live/hub.ts";
import type { StoreWriter } from "#store/writer/writer.ts";
import type { RowsInUse } from "./rows-in-use.ts";

/** The server counts as quiet when nothing has arrived for this long. */
const quietMs = 10_000;
/**
 * The runtime sweeps what a collection found free only later, so a second collection gives that back too. It does the
 * rest by itself.
 */
const givesAfterWork = 2;

interface Holders {
  applied(): number;
  readonly applier: ProtocolApplier;
  readonly writer: StoreWriter;
  readonly hub: LiveHub;
  readonly rowsInUse: RowsInUse;
}

/** Releases what is stored and need not be held: the shorter memory is, the more. */
export function letGo(
  { hub, rowsInUse, applier }: Pick<Holders, "hub" | "rowsInUse" | "applier">,
  stored: number,
  applied: number,
  strain: Strain,
): void {
  if (strain !== "none") hub.rest();
  rowsInUse.forgotten(hub.keptFrom - 1);
  rowsInUse.stored(stored);
  applier.shrink(stored, applied, strain === "none" ? "limits" : strain);
}

/** Drops what a quiet server need not hold. */
export function watchForQuiet({ applied, applier, writer, hub, rowsInUse }: Holders): NodeJS.Timeout {
  let last = applied();
  let left = 0;
  return setInterval(() => {
    const now = applied();
    if (now !== last) left = givesAfterWork;
    else if (left > 0) {
      left--;
      applier.shrink(writer.stored, now, "rest");
      hub.rest();
      rowsInUse.forgotten(hub.keptFrom - 1);
      giveBackMemory();
    }
    last = now;
  }, quietMs).unref();
}
