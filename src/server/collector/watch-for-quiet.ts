// At full speed the server holds more than a quiet one needs: groups, rows for late subscribers, freed memory.

import { giveBackMemory } from "#base/give-back.ts";
import type { Strain } from "#config/memory-shares.ts";
import type { ProtocolApplier } from "#intake/applier.ts";
import type { LiveHub } from "#live/hub.ts";
import type { StoreWriter } from "#store/writer/writer.ts";
import type { RowsInUse } from "./rows-in-use.ts";

/** How long nothing must arrive for the server to count as quiet. */
const quietMs = 10_000;
/** What a collection finds free, the runtime still has to sweep: the next one gives that back too. The rest it does alone. */
const givesAfterWork = 2;

interface Holders {
  applied(): number;
  readonly applier: ProtocolApplier;
  readonly writer: StoreWriter;
  readonly hub: LiveHub;
  readonly rowsInUse: RowsInUse;
}

/** Lets go of what is stored, up to `stored`, and need not be held: of more, the shorter memory is. */
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

/** Drops what a quiet server need not hold, when nothing has arrived for a while. */
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
