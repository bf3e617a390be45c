// Asks at once for what the first address of a visit needs, while the files of its view are still loading.

import type { QueryClient } from "@tanstack/react-query";
import type { RouteName } from "#api/contract/paths.ts";
import type { Call } from "#api/contract/routes.ts";
import { fromSegment } from "#api/contract/segment.ts";
import { apiQuery } from "../data/use-api.ts";
import { orderedRuns, parseCompareSearch, toPartQuestion } from "../view/compare/compare-search.ts";
import { parseSearch } from "./search.ts";

/** Tabs that begin with the list of metrics. */
const metricTabs: ReadonlySet<string> = new Set(["", "charts", "report"]);

export function askAhead(client: QueryClient, { pathname, search }: Pick<Location, "pathname" | "search">): void {
  // The view's own question has the same key, so it finds this answer or waits for it.
  const ask = <N extends RouteName>(name: N, input: Call<N>) => void client.prefetchQuery(apiQuery(name, input));
  const [place, id, tab = ""] = pathname.split("/").slice(1);
  if (place === "compare") {
    const ids = orderedRuns(parseCompareSearch(parseSearch(search)));
    if (ids.length > 0) ask("compare", toPartQuestion(ids, "metrics"));
  } else if (place === "runs" && id !== undefined && id !== "") {
    const params = { id: fromSegment(decodeURIComponent(id)) };
    ask("run", { params });
    if (metricTabs.has(tab)) ask("metrics", { params });
  } else if (place === "runs" || place === "") ask("fields", {});
}
