// Every view has a URL. The frame and this table are the first load; the other views follow while the page is idle.

import { type AnyRoute, createRootRouteWithContext, createRoute, createRouter, redirect } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { fromSegment, keepDots } from "#api/contract/segment.ts";
import { clockNames } from "../clock/use-address.ts";
import { PageProblem } from "../part/notice.tsx";
import { parseCompareSearch } from "../view/compare/compare-search.ts";
import { parseRunsSearch } from "../view/runs/runs-search.ts";
import { Frame } from "./frame.tsx";
import { lazyView } from "./lazy-view.tsx";
import { asList, asText, formatSearch, parseSearch, toSearchParser } from "./search.ts";

/** Texts that a view reads from its address. */
function texts<N extends string>(...names: readonly N[]) {
  return toSearchParser(Object.fromEntries(names.map((name) => [name, asText])) as Record<N, typeof asText>);
}

const root = createRootRouteWithContext()({ component: Frame });

function viewsBelow<Parent extends AnyRoute>(parent: Parent) {
  return <P extends string, N extends string, S extends object = object>(
    path: P,
    load: () => Promise<{ readonly [K in N]: ComponentType }>,
    name: N,
    validateSearch: (search: Record<string, unknown>) => S = () => ({}) as S,
  ) => createRoute({ getParentRoute: () => parent, path, validateSearch, component: lazyView(load, name) });
}

const page = viewsBelow(root);
/** The router percent-encodes names itself. */
const runRoute = createRoute({
  getParentRoute: () => root,
  path: "/runs/$id",
  params: { parse: ({ id }) => ({ id: fromSegment(id) }), stringify: ({ id }) => ({ id: keepDots(id) }) },
  validateSearch: texts(...clockNames),
  component: lazyView(() => import("../view/run/run-view.tsx"), "RunView"),
});
const tab = viewsBelow(runRoute);
const parseLogSearch = toSearchParser({ q: asText, worker: asText, read: asText, level: asList });

const runTabs = [
  tab("/", () => import("../view/run/overview.tsx"), "Overview"),
  tab("/charts", () => import("../view/charts/charts-view.tsx"), "ChartsView", texts("find", "panel")),
  tab("/timeline", () => import("../view/timeline/timeline-view.tsx"), "TimelineView", texts("find", "show")),
  tab("/tensors", () => import("../view/tensors/tensors-view.tsx"), "TensorsView", texts("tensor")),
  tab("/pipeline", () => import("../view/pipeline/pipeline-view.tsx"), "PipelineView"),
  tab("/logs", () => import("../view/logs/logs-view.tsx"), "LogsView", parseLogSearch),
  tab("/files", () => import("../view/run/files.tsx"), "Files"),
  tab("/params", () => import("../view/run/params.tsx"), "Params"),
  tab("/events", () => import("../view/run/events.tsx"), "Events"),
  tab("/control", () => import("../view/control/control-view.tsx"), "ControlView", texts("ask")),
  tab("/integrity", () => import("../view/integrity/integrity-view.tsx"), "IntegrityView"),
  tab("/post-mortem", () => import("../view/post-mortem/post-mortem-view.tsx"), "PostMortemView"),
  tab("/report", () => import("../view/run/report.tsx"), "Report"),
] as const;

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/runs" });
  },
});

const routeTree = root.addChildren([
  home,
  page("/runs", () => import("../view/runs/runs-view.tsx"), "RunsView", parseRunsSearch),
  runRoute.addChildren(runTabs),
  page("/compare", () => import("../view/compare/compare-view.tsx"), "CompareView", parseCompareSearch),
  page("/launches", () => import("../view/launches/launches-view.tsx"), "LaunchesView"),
  page(
    "/launches/$id/$attempt",
    () => import("../view/launches/launch-view.tsx"),
    "LaunchView",
    texts("x", "y", "metric"),
  ),
  page("/sql", () => import("../view/sql/sql-view.tsx"), "SqlView", texts("q")),
  page("/health", () => import("../view/health/health-view.tsx"), "HealthView"),
  page("/rules", () => import("../view/rules/rules-view.tsx"), "RulesView"),
  page("/settings", () => import("../view/settings/settings-view.tsx"), "SettingsView"),
  page("/start", () => import("../view/start/start-view.tsx"), "StartView"),
  page("/tour", () => import("../view/tour/tour-view.tsx"), "TourView"),
]);

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch: formatSearch,
  defaultPreload: "intent",
  defaultErrorComponent: ({ error, reset }) => (
    <PageProblem error={error instanceof Error ? error : new Error(String(error))} retry={reset} />
  ),
  defaultNotFoundComponent: () => (
    <div className="empty">
      <strong>There is no such page.</strong>
      <a href="/runs">All runs</a>
    </div>
  ),
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
