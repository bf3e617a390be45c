// Every route of the API with its handler.

import type { ApiContext, Route } from "./context.ts";
import type { RouteName } from "./contract/paths.ts";
import type { HandlerRequest, Handlers } from "./handler.ts";
import { auditRoute, retentionRoute, setRetentionRoute } from "./routes/admin.ts";
import { alertsRoute, runAlertsRoute } from "./routes/alerts.ts";
import { cancelCommandRoute, commandsRoute, sendCommandRoute } from "./routes/commands.ts";
import { compareRoute } from "./routes/compare.ts";
import { deleteRunRoute, deleteRunsRoute, patchRunRoute } from "./routes/edit.ts";
import { eventRoute, eventsRoute } from "./routes/events.ts";
import { exportRunRoute, exportRunsRoute } from "./routes/export.ts";
import { artifactRoute, artifactsRoute, readBlobRoute, tensorValuesRoute } from "./routes/files.ts";
import { runHistoryRoute } from "./routes/history.ts";
import { joinRunsRoute, partRunsRoute } from "./routes/joins.ts";
import { launchesRoute, launchRoute } from "./routes/launches.ts";
import { liveRoute } from "./routes/live.ts";
import { completenessAllRoute, completenessRoute, graphRoute } from "./routes/pipeline.ts";
import { postMortemRoute, verdictsRoute } from "./routes/post-mortem.ts";
import * as records from "./routes/records.ts";
import { gapsRoute } from "./routes/records.ts";
import {
  armRuleRoute,
  deleteRuleRoute,
  gateRoute,
  putRuleRoute,
  rulesRoute,
  silenceRuleRoute,
  testRuleRoute,
} from "./routes/rules.ts";
import { runRoute } from "./routes/run.ts";
import { fieldsRoute, listRunsRoute } from "./routes/runs.ts";
import { metricRoute, metricsRoute, seriesRoute } from "./routes/series.ts";
import { snapshotsRoute, tensorRoute } from "./routes/snapshots.ts";
import { spanFlameRoute, spanRoute, spanSummaryRoute, spansRoute } from "./routes/spans.ts";
import { sqlRoute, sqlSchemaRoute } from "./routes/sql.ts";
import { deleteViewRoute, saveViewRoute, viewsRoute } from "./routes/views.ts";

const routes = {
  runs: listRunsRoute,
  deleteRuns: deleteRunsRoute,
  fields: fieldsRoute,
  run: runRoute,
  joinRuns: joinRunsRoute,
  partRuns: partRunsRoute,
  patchRun: patchRunRoute,
  runHistory: runHistoryRoute,
  deleteRun: deleteRunRoute,
  verdicts: verdictsRoute,
  postMortem: postMortemRoute,
  runAlerts: runAlertsRoute,
  gate: gateRoute,
  metrics: metricsRoute,
  metric: metricRoute,
  series: seriesRoute,
  spans: spansRoute,
  spanFlame: spanFlameRoute,
  spanSummary: spanSummaryRoute,
  span: spanRoute,
  snapshots: snapshotsRoute,
  tensor: tensorRoute,
  logs: records.logsRoute,
  params: records.paramsRoute,
  artifacts: artifactsRoute,
  artifact: artifactRoute,
  readBlob: readBlobRoute,
  tensorValues: tensorValuesRoute,
  checkpoints: records.checkpointsRoute,
  event: eventRoute,
  events: eventsRoute,
  gaps: gapsRoute,
  faults: records.faultsRoute,
  runFaults: records.runFaultsRoute,
  faultRaw: records.faultRawRoute,
  graph: graphRoute,
  completeness: completenessRoute,
  completenessAll: completenessAllRoute,
  launches: launchesRoute,
  launch: launchRoute,
  compare: compareRoute,
  sql: sqlRoute,
  sqlSchema: sqlSchemaRoute,
  commands: commandsRoute,
  sendCommand: sendCommandRoute,
  cancelCommand: cancelCommandRoute,
  exportRun: exportRunRoute,
  exportRuns: exportRunsRoute,
  audit: auditRoute,
  retention: retentionRoute,
  setRetention: setRetentionRoute,
  views: viewsRoute,
  saveView: saveViewRoute,
  deleteView: deleteViewRoute,
  rules: rulesRoute,
  putRule: putRuleRoute,
  deleteRule: deleteRuleRoute,
  armRule: armRuleRoute,
  silenceRule: silenceRuleRoute,
  testRule: testRuleRoute,
  alerts: alertsRoute,
  live: liveRoute,
} satisfies { readonly [N in RouteName]?: Route<N> };

export function createHandlers(context: ApiContext): Handlers {
  const toHandler = (answer: Route<never>) => (request: HandlerRequest<never>) =>
    answer(context, { ...request, asOf: context.asOf() });
  const entries = Object.entries(routes).map(([name, answer]) => [name, toHandler(answer as Route<never>)]);
  return Object.fromEntries(entries) as Handlers;
}
