// What runs are called, for lists of things that know their runs by id.

import { useApi } from "./use-api.ts";

/** Of a filter, with room for the last id. */
const filterCharsMax = 3000;

/** Asked for anew when there are others; a run whose name is not known is called by its id. */
export function useRunNames(ids: readonly (string | null)[]): (id: string) => string {
  const filter = toIdFilter(ids.filter((id) => id !== null));
  const runs = useApi("runs", { query: { filter, limit: 200 } }, { enabled: filter !== "", keep: true });
  const names = new Map(runs.data?.runs.map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? id;
}

/** A filter that finds these runs, or as many of them as fit in one; the same whatever order they come in. */
export function toIdFilter(ids: readonly string[]): string {
  let filter = "";
  for (const id of [...new Set(ids)].sort()) {
    if (filter.length + id.length > filterCharsMax) continue;
    filter += `${filter === "" ? "" : " OR "}id=${JSON.stringify(id)}`;
  }
  return filter;
}
