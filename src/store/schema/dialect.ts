// The two dialects of the schema: one machine (the embedded engine, or one server) and a cluster. Both come from
// the same layouts. In a cluster the rows lie in `<table>_local`, replicated, and `<table>` reads all shards, so
// that every query reads the same names in both.

import type { Summary } from "./summaries.ts";
import type { TableLayout } from "./table-layout.ts";

export interface Dialect {
  readonly database: string;
  /** Null on one machine. */
  readonly cluster: string | null;
  /** The embedded engine: its tables sync to disk themselves, and forget a part only when its merge is safe. */
  readonly embedded: boolean;
}

const localSettings = "non_replicated_deduplication_window = 10000";

// By default chDB drops the sources of a merge at once and syncs nothing; a power cut could then lose both. Here a
// merge is synced before its sources go, so they stay only for a short time: after a kill, the engine loads each one
// that is left. By default it looks for outdated sources only every half a minute to five minutes.
//
// The text index of a merge is not synced. After a loss of power such a part may be broken, and the engine takes its sources
// instead: they stay until the kernel has long written the index by itself, as it does after half a minute.
function sourcesSettings({ indexes }: TableLayout): string {
  const hasText = indexes.some((index) => index.includes("TYPE text("));
  return [
    `old_parts_lifetime = ${hasText ? 120 : 1}`,
    "cleanup_delay_period = 2",
    "max_cleanup_delay_period = 20",
    "cleanup_delay_period_random_add = 1",
    "cleanup_thread_preferred_points_per_iteration = 10",
  ].join(", ");
}
const durableSettings = "fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1";

// The default window of a replicated table is one hour, and a batch may be sent again for 24.
const replicatedSettings = "replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 90000";

export function createDatabase(dialect: Dialect): string {
  const on = dialect.cluster === null ? "" : ` ON CLUSTER \`${dialect.cluster}\``;
  return `CREATE DATABASE IF NOT EXISTS ${dialect.database}${on} ENGINE = Atomic`;
}

export function createTable(layout: TableLayout, dialect: Dialect): string[] {
  const { database, cluster } = dialect;
  const table = `${body(layout)}\n${storage(layout, dialect)}`;
  if (cluster === null) return [`CREATE TABLE IF NOT EXISTS ${database}.${layout.name} ${table}`];
  const on = ` ON CLUSTER \`${cluster}\``;
  // Whole on every shard, so that each joins its own rows with it.
  if (layout.shardBy === null) return [`CREATE TABLE IF NOT EXISTS ${database}.${layout.name}${on} ${table}`];
  const local = `${database}.${layout.name}_local`;
  return [
    `CREATE TABLE IF NOT EXISTS ${local}${on} ${table}`,
    `CREATE TABLE IF NOT EXISTS ${database}.${layout.name}${on} AS ${local}
ENGINE = Distributed(\`${cluster}\`, ${database}, ${layout.name}_local, ${layout.shardBy})`,
  ];
}

function body(layout: TableLayout): string {
  const columns = Object.entries(layout.columns).map(([name, type]) =>
    [`  \`${name}\``, type, layout.codecs[name] ?? ""].join(" ").trimEnd(),
  );
  return `(\n${[...columns, ...layout.indexes.map((index) => `  ${index}`)].join(",\n")}\n)`;
}

function storage(layout: TableLayout, dialect: Dialect): string {
  const { name, version } = layout.engine;
  const versionArgs = version === undefined ? [] : [version];
  const engine =
    dialect.cluster === null
      ? `${name}(${versionArgs.join(", ")})`
      : `Replicated${name}(${[...replicaArgs(layout, dialect.database), ...versionArgs].join(", ")})`;
  const settings = [dialect.cluster === null ? localSettings : replicatedSettings];
  if (layout.granularity !== undefined) settings.push(`index_granularity = ${layout.granularity}`);
  if (layout.wideBytesMin !== undefined) settings.push(wideSetting(layout.wideBytesMin));
  if (dialect.embedded) settings.push(durableSettings, sourcesSettings(layout));
  const order = layout.orderBy.map((column) => `\`${column}\``).join(", ");
  return `ENGINE = ${engine}\nORDER BY (${order})\nSETTINGS ${settings.join(", ")}`;
}

function wideSetting(bytesMin: number): string {
  return `min_bytes_for_wide_part = ${bytesMin}`;
}

/** Changes the setting for wide parts of an existing table. Not in a cluster, where it would affect every replica. */
export function changeWideParts({ name, wideBytesMin }: TableLayout, { database, cluster }: Dialect): string[] {
  if (wideBytesMin === undefined || cluster !== null) return [];
  return [`ALTER TABLE ${database}.${name} MODIFY SETTING ${wideSetting(wideBytesMin)}`];
}

/** Changes how long an existing table keeps the sources of a merge. */
export function changeSources(layout: TableLayout, { database, embedded }: Dialect): string[] {
  return embedded ? [`ALTER TABLE ${database}.${layout.name} MODIFY SETTING ${sourcesSettings(layout)}`] : [];
}

/**
 * The path of the table in the keeper, and the name of this replica there; a whole table's replicas are those of all
 * shards.
 */
function replicaArgs(layout: TableLayout, database: string): string[] {
  const isWhole = layout.shardBy === null;
  const shard = isWhole ? "all" : "{shard}";
  return [
    `'/clickhouse/tables/{cluster}/${shard}/${database}/${layout.name}'`,
    isWhole ? "'{shard}-{replica}'" : "'{replica}'",
  ];
}

/** The materialised views of a summary. In a cluster each shard summarises its own rows. */
export function createSummaryViews(summary: Summary, dialect: Dialect): string[] {
  const to = `${dialect.database}.${summary.target.name}${dialect.cluster === null ? "" : "_local"}`;
  return viewsOf(summary, dialect).map(
    ({ view, on, select }) => `CREATE MATERIALIZED VIEW IF NOT EXISTS ${view}${on}\nTO ${to} AS\n${select}`,
  );
}

export function dropSummaryViews(summary: Summary, dialect: Dialect): string[] {
  return viewsOf(summary, dialect).map(({ view }) => `DROP VIEW IF EXISTS ${view}`);
}

/** Changes the query of existing views; no row is missed in between. */
export function changeSummaryViews(summary: Summary, dialect: Dialect): string[] {
  return viewsOf(summary, dialect).map(({ view, on, select }) => `ALTER TABLE ${view}${on} MODIFY QUERY\n${select}`);
}

function viewsOf({ target, sources }: Summary, { database, cluster }: Dialect) {
  const suffix = cluster === null ? "" : "_local";
  const on = cluster === null ? "" : ` ON CLUSTER \`${cluster}\``;
  return Object.entries(sources).map(([source, select]) => ({
    view: `${database}.${target.name}_of_${source}`,
    on,
    select: select.replaceAll("@", `${database}.${source}${suffix}`),
  }));
}

export function addColumn(layout: TableLayout, column: string, dialect: Dialect): string[] {
  const { database, cluster } = dialect;
  const on = cluster === null ? "" : ` ON CLUSTER \`${cluster}\``;
  const isSplit = cluster !== null && layout.shardBy !== null;
  const names = isSplit ? [`${layout.name}_local`, layout.name] : [layout.name];
  return names.map((name) => {
    const codec = isSplit && name === layout.name ? "" : (layout.codecs[column] ?? "");
    const definition = [`\`${column}\``, layout.columns[column], codec].join(" ").trimEnd();
    return `ALTER TABLE ${database}.${name}${on} ADD COLUMN IF NOT EXISTS ${definition}`;
  });
}
