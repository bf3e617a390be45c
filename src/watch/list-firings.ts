// What rules saw, with the messages about it.

import type { Sources } from "#query/sources.ts";
import { type FiringsFilter, readDeliveries, readFirings } from "#store/reader/firings.ts";
import type { DeliveryRow } from "./deliveries.ts";
import { type Firing, fromFiringRow } from "./firing.ts";

/** The newest first. */
export async function listFirings(
  { store }: Sources,
  filter: FiringsFilter,
): Promise<{ readonly firing: Firing; readonly deliveries: readonly DeliveryRow[] }[]> {
  const firings = (await readFirings(store, filter)).map(fromFiringRow);
  const armed = firings.filter(({ isArmed }) => isArmed).map(({ id }) => id);
  const rows = armed.length === 0 ? [] : await readDeliveries(store, armed);
  const deliveriesOf = Map.groupBy(rows, (row) => row.firing_id);
  return firings.map((firing) => ({ firing, deliveries: deliveriesOf.get(firing.id) ?? [] }));
}
