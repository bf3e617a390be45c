// The views for SQL that people write, in a database of their own beside the tables. Each has the current id of the
// run, which a row itself does not know. A view may scan; `<name>_of(run = '…')` first finds the groups of the run and
// reads only those.

import { joinedGroups } from "#store/joined-groups.ts";
import { jsonBool, jsonInt, jsonRaw, jsonText } from "#store/payload-sql.ts";
import { withTrait } from "#store/protocol-sql.ts";
import { gapsView, launchesView } from "./derived-views.ts";
import type { Dialect } from "./dialect.ts";
import { groupLookup } from "./group-lookup.ts";
import type { FactView } from "./otlp-views.ts";
import { otlpViews } from "./otlp-views.ts";
import { runsView } from "./runs-view.ts";
import { traceViews } from "./trace-views.ts";

const text = (name: string): readonly [string, string] => [name, jsonText("f.payload", name)];
const raw = (name: string): readonly [string, string] => [name, jsonRaw("f.payload", name)];
const int = (name: string): readonly [string, string] => [name, jsonInt("f.payload", name)];

const factViews: Readonly<Record<string, FactView>> = {
  spans: {
    table: "spans",
    columns: [
      ..."span_id parent_id name index start_ns end_ns cpu_ns gpu_ns memory_peak_bytes thread_id pid rank".split(" "),
      ..."attrs mark_ids extra received_ns".split(" "),
    ],
  },
  marks: {
    table: "marks",
    columns:
      "mark_id span_id name value_type value_float value_int value_string value_bool attrs ts_ns kind extra received_ns".split(
        " ",
      ),
  },
  snapshots: {
    table: "snapshots",
    columns: [
      ..."snapshot_id span_id tensor_name shape dtype mode mean std min max norm bins counts stats blob_uri".split(" "),
      ..."ts_ns attrs extra received_ns".split(" "),
    ],
  },
  metrics: {
    table: "metrics",
    columns: "key step epoch ts_ns value worker phase value_text step_text source seq span_id ctx received_ns".split(
      " ",
    ),
  },
  params: { table: "params", columns: "name value value_num worker key nested_key ts_ns seq received_ns".split(" ") },
  logs: {
    table: "logs",
    columns: "ts_ns worker level logger msg step fields stream offset seq received_ns".split(" "),
  },
  artifacts: {
    table: "events",
    where: `${withTrait("f.protocol", "workers")} AND f.type = 'artifact'`,
    columns: [
      text("name"),
      text("path"),
      text("type"),
      int("size"),
      text("checksum"),
      text("upload"),
      raw("meta"),
    ].concat([
      ["worker", "f.worker"],
      ["ts_ns", "f.ts_ns"],
      ["received_ns", "f.received_ns"],
    ]),
  },
  checkpoints: {
    table: "events",
    where: `${withTrait("f.protocol", "workers")} AND f.type = 'checkpoint'`,
    columns: [
      int("step"),
      int("epoch"),
      text("path"),
      raw("metrics"),
      ["is_best", jsonBool("f.payload", "is_best")],
      text("best_key"),
      raw("meta"),
      "worker",
      "ts_ns",
      "received_ns",
    ],
  },
  nodes: {
    table: "nodes",
    columns: [
      ..."node_id pipeline_id status start_ns end_ns started_at finished_at wall_ms cpu_ms processor upstream".split(
        " ",
      ),
      ..."seq payload received_ns".split(" "),
    ],
  },
  events: { table: "events", columns: "protocol type worker ts_ns seq payload received_ns".split(" ") },
  ...otlpViews,
};

const parameterised: readonly string[] = [
  "spans",
  "marks",
  "snapshots",
  "metrics",
  "params",
  "logs",
  "nodes",
  "events",
];

function selectList(view: FactView): string {
  return view.columns
    .map((column) => (typeof column === "string" ? `f.${column} AS ${column}` : `${column[1]} AS ${column[0]}`))
    .join(",\n  ");
}

function factView(database: string, groups: string, view: FactView): string {
  const group = groupLookup(groups, ["run_id", "workspace"]);
  return `${group.with}
SELECT
  ${group.of("run_id")} AS run_id,
  ${group.of("workspace")} AS workspace,
  ${selectList(view)}
FROM ${database}.${view.table} AS f
WHERE ${group.isShown}${view.where === undefined ? "" : ` AND ${view.where}`}`;
}

function viewOfRun(database: string, view: FactView): string {
  const living = `SELECT group_key FROM ${joinedGroups(database)} WHERE run_id = {run:String}`;
  return `SELECT
  {run:String} AS run_id,
  ${selectList(view)}
FROM ${database}.${view.table} AS f
WHERE f.group_key IN (${living})
  AND f.received_ns > (SELECT max(deleted_ns) FROM ${joinedGroups(database)} WHERE run_id = {run:String})`;
}

/** A fault may be of no run. */
function faultsView(database: string, groups: string): string {
  const group = groupLookup(groups, ["run_id"]);
  return `${group.with}
SELECT ${group.of("run_id")} AS run_id, f.workspace AS workspace, f.code AS code, f.blast AS blast,
  f.protocol AS protocol, f.transport AS transport, f.detail AS detail, f.place AS place, f.raw AS raw,
  f.fault_id AS fault_id, f.received_ns AS received_ns
FROM ${database}.faults AS f
WHERE ${group.isShown}`;
}

function groupsSql(database: string): string {
  return `SELECT group_key, CAST(workspace, 'String') AS workspace, CAST(protocol, 'String') AS protocol, run_id, session_id,
    CAST(root_kind, 'String') AS root_kind, imported, pipeline_id, deployment_id, model_id, deleted_ns FROM ${joinedGroups(database)}`;
}

/** Every view by name, with its SELECT. */
export function viewSelects(database: string): Readonly<Record<string, string>> {
  const groups = groupsSql(database);
  const views: Record<string, string> = {
    ...traceViews(database, groups),
    runs: runsView(database, groups),
    launches: launchesView(database),
    faults: faultsView(database, groups),
    gaps: gapsView(database, groups),
  };
  for (const [name, view] of Object.entries(factViews)) views[name] = factView(database, groups, view);
  for (const name of parameterised) views[`${name}_of`] = viewOfRun(database, factViews[name] as FactView);
  return views;
}

/** The rows of a view that belong to the runs of `{runs:Array(String)}` in `{workspace:String}`, read by their groups. */
export function exportSelect(database: string, name: string): string {
  const groups = `${groupsSql(database)} WHERE workspace = {workspace:String} AND run_id IN {runs:Array(String)}`;
  if (name === "runs") return `SELECT * EXCEPT (workspace) FROM (${runsView(database, groups)}) ORDER BY run_id`;
  const keys = `SELECT group_key FROM (${groups})`;
  if (name === "faults")
    return `SELECT * EXCEPT (workspace, raw), base64Encode(raw) AS raw_base64
      FROM (${faultsView(database, groups)} AND f.group_key IN (${keys})) ORDER BY run_id, received_ns`;
  const view = factViews[name] as FactView;
  const where = `f.group_key IN (${keys})${view.where === undefined ? "" : ` AND ${view.where}`}`;
  return `SELECT * EXCEPT (workspace) FROM (${factView(database, groups, { ...view, where })}) ORDER BY run_id`;
}

/** Where people's SQL finds its views. */
export function guestDatabaseOf(database: string): string {
  return `${database}_sql`;
}

/** A view reads the tables with its creator's rights: a user who may read the view needs no other right. */
export function guestViews(dialect: Dialect): string[] {
  const on = dialect.cluster === null ? "" : ` ON CLUSTER \`${dialect.cluster}\``;
  const guest = guestDatabaseOf(dialect.database);
  return [
    `CREATE DATABASE IF NOT EXISTS ${guest}${on} ENGINE = Atomic`,
    ...Object.entries(viewSelects(dialect.database)).map(
      ([name, select]) =>
        `CREATE OR REPLACE VIEW ${guest}.${name}${on} DEFINER = CURRENT_USER SQL SECURITY DEFINER AS\n${select}`,
    ),
  ];
}
