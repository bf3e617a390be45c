// Every route of the API with its handler.

import type { ApiContext } from "./context.ts";
import type { Handlers } from "./handler.ts";
import { auditRoute, retentionRoute, setRetentionRoute } from "./routes/admin.ts";
import { alertsRoute, runAlertsRoute } from "./routes/alerts.ts";
import { cancelCommandRoute, commandsRoute, sendCommandRoute } from "./routes/commands.ts";
import { compareRoute } from "./routes/compare.ts";
import { deleteRunRoute, deleteRunsRoute, patchRunRoute } from "./routes/edit.ts";
import { eventRoute, eventsRoute } from "./routes/events.ts";
import { exportRunRoute, exportRunsRoute } from "./routes/export.ts";
import { fieldsRoute } from "./routes/fields.ts";
import { artifactRoute, artifactsRoute, readBlobRoute, tensorValuesRoute } from "./routes/files.ts";
import { gapsRoute } from "./routes/gaps.ts";
import { runHistoryRoute } from "./routes/history.ts";
import { joinRunsRoute, partRunsRoute } from "./routes/joins.ts";
import { launchesRoute, launchRoute } from "./routes/launches.ts";
import { liveRoute } from "./routes/live.ts";
import { completenessAllRoute, completenessRoute, graphRoute } from "./routes/pipeline.ts";
import { postMortemRoute } from "./routes/post-mortem.ts";
import * as records from "./routes/records.ts";
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
import { listRunsRoute } from "./routes/runs.ts";
import { metricRoute, metricsRoute, seriesRoute } from "./routes/series.ts";
import { snapshotsRoute, tensorRoute } from "./routes/snapshots.ts";
import { spanRoute } from "./routes/span.ts";
import { spanFlameRoute } from "./routes/span-flame.ts";
import { spanSummaryRoute } from "./routes/span-summary.ts";
import { spansRoute } from "./routes/spans.ts";
import { sqlRoute, sqlSchemaRoute } from "./routes/sql.ts";
import { verdictsRoute } from "./routes/verdicts.ts";
import { deleteViewRoute, saveViewRoute, viewsRoute } from "./routes/views.ts";

export function createHandlers(context: ApiContext): Handlers {
  return {
    runs: listRunsRoute(context),
    deleteRuns: deleteRunsRoute(context),
    fields: fieldsRoute(context),
    run: runRoute(context),
    joinRuns: joinRunsRoute(context),
    partRuns: partRunsRoute(context),
    patchRun: patchRunRoute(context),
    runHistory: runHistoryRoute(context),
    deleteRun: deleteRunRoute(context),
    verdicts: verdictsRoute(context),
    postMortem: postMortemRoute(context),
    runAlerts: runAlertsRoute(context),
    gate: gateRoute(context),
    metrics: metricsRoute(context),
    metric: metricRoute(context),
    series: seriesRoute(context),
    spans: spansRoute(context),
    spanFlame: spanFlameRoute(context),
    spanSummary: spanSummaryRoute(context),
    span: spanRoute(context),
    snapshots: snapshotsRoute(context),
    tensor: tensorRoute(context),
    logs: records.logsRoute(context),
    params: records.paramsRoute(context),
    artifacts: artifactsRoute(context),
    artifact: artifactRoute(context),
    readBlob: readBlobRoute(context),
    tensorValues: tensorValuesRoute(context),
    checkpoints: records.checkpointsRoute(context),
    event: eventRoute(context),
    events: eventsRoute(context),
    gaps: gapsRoute(context),
    faults: records.faultsRoute(context),
    runFaults: records.runFaultsRoute(context),
    faultRaw: records.faultRawRoute(context),
    graph: graphRoute(context),
    completeness: completenessRoute(context),
    completenessAll: completenessAllRoute(context),
    launches: launchesRoute(context),
    launch: launchRoute(context),
    compare: compareRoute(context),
    sql: sqlRoute(context),
    sqlSchema: sqlSchemaRoute(context),
    commands: commandsRoute(context),
    sendCommand: sendCommandRoute(context),
    cancelCommand: cancelCommandRoute(context),
    exportRun: exportRunRoute(context),
    exportRuns: exportRunsRoute(context),
    audit: auditRoute(context),
    retention: retentionRoute(context),
    setRetention: setRetentionRoute(context),
    views: viewsRoute(context),
    saveView: saveViewRoute(context),
    deleteView: deleteViewRoute(context),
    rules: rulesRoute(context),
    putRule: putRuleRoute(context),
    deleteRule: deleteRuleRoute(context),
    armRule: armRuleRoute(context),
    silenceRule: silenceRuleRoute(context),
    testRule: testRuleRoute(context),
    alerts: alertsRoute(context),
    live: liveRoute(context),
  };
}
