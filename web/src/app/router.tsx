// Every view has a URL. The frame and this table are the first load; the other views follow while the page is idle.

import { createRootRouteWithContext, createRoute, createRouter, redirect } from "@tanstack/react-router";
import { Problem } from "../part/notice.tsx";
import { parseCompareSearch } from "../view/compare/compare-search.ts";
import { parseRunsSearch } from "../view/runs/runs-search.ts";
import { Frame } from "./frame.tsx";
import { lazyView } from "./lazy-view.tsx";
import { asList, asText, defined, formatSearch, parseSearch } from "./search.ts";

const root = createRootRouteWithContext()({ component: Frame });

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/runs" });
  },
});

const runsRoute = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: parseRunsSearch,
  component: lazyView(() => import("../view/runs/runs-view.tsx"), "RunsView"),
});

const runRoute = createRoute({
  getParentRoute: () => root,
  path: "/runs/$id",
  validateSearch: (search: Record<string, unknown>) =>
    defined({
      from: asText(search["from"]),
      to: asText(search["to"]),
      pin: asText(search["pin"]),
      of: asText(search["of"]),
    }),
  component: lazyView(() => import("../view/run/run-view.tsx"), "RunView"),
});

const overview = createRoute({
  getParentRoute: () => runRoute,
  path: "/",
  component: lazyView(() => import("../view/run/overview.tsx"), "Overview"),
});
const charts = createRoute({
  getParentRoute: () => runRoute,
  path: "/charts",
  validateSearch: (search: Record<string, unknown>) =>
    defined({ find: asText(search["find"]), panel: asText(search["panel"]) }),
  component: lazyView(() => import("../view/charts/charts-view.tsx"), "ChartsView"),
});
const timeline = createRoute({
  getParentRoute: () => runRoute,
  path: "/timeline",
  validateSearch: (search: Record<string, unknown>) =>
    defined({ find: asText(search["find"]), show: asText(search["show"]) }),
  component: lazyView(() => import("../view/timeline/timeline-view.tsx"), "TimelineView"),
});
const tensors = createRoute({
  getParentRoute: () => runRoute,
  path: "/tensors",
  validateSearch: (search: Record<string, unknown>) => defined({ tensor: asText(search["tensor"]) }),
  component: lazyView(() => import("../view/tensors/tensors-view.tsx"), "TensorsView"),
});
const pipeline = createRoute({
  getParentRoute: () => runRoute,
  path: "/pipeline",
  component: lazyView(() => import("../view/pipeline/pipeline-view.tsx"), "PipelineView"),
});
const logs = createRoute({
  getParentRoute: () => runRoute,
  path: "/logs",
  validateSearch: (search: Record<string, unknown>) =>
    defined({
      q: asText(search["q"]),
      level: asList(search["level"]),
      worker: asText(search["worker"]),
      read: asText(search["read"]),
    }),
  component: lazyView(() => import("../view/logs/logs-view.tsx"), "LogsView"),
});
const files = createRoute({
  getParentRoute: () => runRoute,
  path: "/files",
  component: lazyView(() => import("../view/run/files.tsx"), "Files"),
});
const params = createRoute({
  getParentRoute: () => runRoute,
  path: "/params",
  component: lazyView(() => import("../view/run/params.tsx"), "Params"),
});
const events = createRoute({
  getParentRoute: () => runRoute,
  path: "/events",
  component: lazyView(() => import("../view/run/events.tsx"), "Events"),
});
const control = createRoute({
  getParentRoute: () => runRoute,
  path: "/control",
  validateSearch: (search: Record<string, unknown>) => defined({ ask: asText(search["ask"]) }),
  component: lazyView(() => import("../view/control/control-view.tsx"), "ControlView"),
});
const integrity = createRoute({
  getParentRoute: () => runRoute,
  path: "/integrity",
  component: lazyView(() => import("../view/integrity/integrity-view.tsx"), "IntegrityView"),
});

const postMortem = createRoute({
  getParentRoute: () => runRoute,
  path: "/post-mortem",
  component: lazyView(() => import("../view/post-mortem/post-mortem-view.tsx"), "PostMortemView"),
});

const report = createRoute({
  getParentRoute: () => runRoute,
  path: "/report",
  component: lazyView(() => import("../view/run/report.tsx"), "Report"),
});

const compareRoute = createRoute({
  getParentRoute: () => root,
  path: "/compare",
  validateSearch: parseCompareSearch,
  component: lazyView(() => import("../view/compare/compare-view.tsx"), "CompareView"),
});
const launches = createRoute({
  getParentRoute: () => root,
  path: "/launches",
  component: lazyView(() => import("../view/launches/launches-view.tsx"), "LaunchesView"),
});
const launchRoute = createRoute({
  getParentRoute: () => root,
  path: "/launches/$id/$attempt",
  validateSearch: (search: Record<string, unknown>) =>
    defined({ x: asText(search["x"]), y: asText(search["y"]), metric: asText(search["metric"]) }),
  component: lazyView(() => import("../view/launches/launch-view.tsx"), "LaunchView"),
});
const sql = createRoute({
  getParentRoute: () => root,
  path: "/sql",
  validateSearch: (search: Record<string, unknown>) => defined({ q: asText(search["q"]) }),
  component: lazyView(() => import("../view/sql/sql-view.tsx"), "SqlView"),
});
const health = createRoute({
  getParentRoute: () => root,
  path: "/health",
  component: lazyView(() => import("../view/health/health-view.tsx"), "HealthView"),
});
const rules = createRoute({
  getParentRoute: () => root,
  path: "/rules",
  component: lazyView(() => import("../view/rules/rules-view.tsx"), "RulesView"),
});
const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: lazyView(() => import("../view/settings/settings-view.tsx"), "SettingsView"),
});
const start = createRoute({
  getParentRoute: () => root,
  path: "/start",
  component: lazyView(() => import("../view/start/start-view.tsx"), "StartView"),
});

const tour = createRoute({
  getParentRoute: () => root,
  path: "/tour",
  component: lazyView(() => import("../view/tour/tour-view.tsx"), "TourView"),
});

const runTabs = [
  overview,
  charts,
  timeline,
  tensors,
  pipeline,
  logs,
  files,
  params,
  events,
  control,
  integrity,
  postMortem,
  report,
] as const;

const routeTree = root.addChildren([
  home,
  runsRoute,
  runRoute.addChildren(runTabs),
  compareRoute,
  launches,
  launchRoute,
  sql,
  health,
  rules,
  settings,
  start,
  tour,
]);

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch: formatSearch,
  defaultPreload: "intent",
  defaultErrorComponent: ({ error, reset }) => (
    <div style={{ padding: 16 }}>
      <Problem error={error instanceof Error ? error : new Error(String(error))} retry={reset} />
    </div>
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
