// Takes over what people joined and parted at other collectors.

import { readJoins } from "#store/reader/joins.ts";
import type { Collector } from "./collector.ts";

export async function refreshJoins({
  store,
  unstored,
  applier,
}: Pick<Collector, "store" | "unstored" | "applier">): Promise<void> {
  const stored = await readJoins(store);
  const own = unstored.of("joins").map(({ row }) => row);
  applier.state.joins.replace([...stored, ...own]);
}
