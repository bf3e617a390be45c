// Brings a database to the schema of this release. Steps are numbered and only go forward; each is recorded in
// `migrations` when it is done, and every statement of a step may run again after a crash in the middle.
//
// Two things need no step of their own: a column added to one of the model's maps is added to its table, and the
// views for people, which hold no data, are rebuilt whenever their text changed.

import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { largestOf } from "#base/extremes.ts";
import { type Lease, leasesLayout, takeLease } from "#store/lease.ts";
import { handOnMark, markAllSql } from "#store/metrics-by-key.ts";
import { encodeObjects } from "#store/native/encode-objects.ts";
import { int, readMap, readRows, text } from "#store/reader/native-rows.ts";
import type { Store } from "#store/store.ts";
import {
  addColumn,
  changeSources,
  changeSummaryViews,
  changeWideParts,
  createDatabase,
  createSummaryViews,
  createTable,
  type Dialect,
  dropSummaryViews,
} from "./dialect.ts";
import { derivedTables, metricSummary, metricsByKey } from "./summaries.ts";
import { factLayouts, stateLayouts, type TableLayout } from "./table-layout.ts";
import { guestViews } from "./views.ts";

interface Step {
  readonly id: number;
  readonly name: string;
  /** Brings an older database along; a fresh one has it from the beginning. */
  readonly statements: (dialect: Dialect) => string[];
}

const migrationColumns = { id: "UInt32", name: "String", checksum: "String", applied_ns: "Int64" } as const;

const migrationsLayout: TableLayout = {
  name: "migrations",
  columns: migrationColumns,
  codecs: {},
  indexes: [],
  engine: { name: "ReplacingMergeTree" },
  orderBy: ["id"],
  shardBy: null,
};

const tableLayouts: readonly TableLayout[] = [...factLayouts, ...stateLayouts];
const everyLayout: readonly TableLayout[] = [
  ...[migrationsLayout, leasesLayout, ...tableLayouts],
  ...derivedTables.map(({ target }) => target),
];

function createTables(dialect: Dialect): string[] {
  // The embedded engine's collector fills this one itself, see metrics-by-key.ts.
  const filled = dialect.embedded ? derivedTables.filter((summary) => summary !== metricsByKey) : derivedTables;
  return [
    ...[...tableLayouts, ...derivedTables.map(({ target }) => target)].flatMap((layout) =>
      createTable(layout, dialect),
    ),
    ...filled.flatMap((summary) => createSummaryViews(summary, dialect)),
  ];
}

/** The first step of every released version; a database without it is older. */
const firstStep: Step = { id: 12, name: "tables", statements: createTables };

const steps: readonly Step[] = [
  firstStep,
  {
    id: 13,
    name: "places of batches",
    statements: (dialect) =>
      createTable(stateLayouts.find(({ name }) => name === "batch_places") as TableLayout, dialect),
  },
  {
    id: 15,
    name: "sources of merges",
    statements: (dialect) => everyLayout.flatMap((layout) => changeSources(layout, dialect)),
  },
  {
    id: 16,
    name: "lines in fewer files",
    statements: (dialect) =>
      factLayouts
        .filter(({ name }) => name === "events" || name === "nodes")
        .flatMap((layout) => changeWideParts(layout, dialect)),
  },
  {
    id: 17,
    name: "metrics by key as summed up",
    // The embedded engine's view goes with the next step.
    statements: (dialect) => (dialect.embedded ? [] : changeSummaryViews(metricsByKey, dialect)),
  },
  {
    id: 18,
    name: "metrics by key from time to time",
    statements: (dialect) =>
      dialect.embedded ? [...dropSummaryViews(metricsByKey, dialect), markAllSql(dialect.database)] : [],
  },
  {
    id: 19,
    name: "ties of points without a number",
    statements: (dialect) => changeSummaryViews(metricSummary, dialect),
  },
  {
    id: 20,
    name: "sources of merges with a text index",
    statements: (dialect) =>
      factLayouts.filter(({ name }) => name === "logs").flatMap((layout) => changeSources(layout, dialect)),
  },
];

/** The views' row in `migrations`; steps count up from 1. */
const viewsId = 0;

/** A newer release made the database, or one from before the first. */
export class OtherSchema extends Error {
  override readonly name = "OtherSchema";
}

function dialectOf(store: Store): Dialect {
  return { database: store.database, cluster: store.cluster, embedded: store.kind === "embedded" };
}

/** Every statement of a fresh database, in order. */
export function schemaStatements(dialect: Dialect): string[] {
  return [
    createDatabase(dialect),
    ...createTable(migrationsLayout, dialect),
    ...createTable(leasesLayout, dialect),
    ...createTables(dialect),
    ...guestViews(dialect),
  ];
}

/** If several collectors start at once on one store, one of them changes the schema; the others wait, and say so. */
export async function migrate(store: Store, onWaiting: (sentence: string) => void = () => {}): Promise<void> {
  const dialect = dialectOf(store);
  const first = [migrationsLayout, leasesLayout].flatMap((layout) => createTable(layout, dialect));
  for (const sql of [createDatabase(dialect), ...first]) await store.ddl(sql);
  const holder = randomUUID();
  for (let waits = 0; await isBehind(store, dialect); waits++) {
    const lease = await takeLease(store, "schema", holder, schemaLeaseMs);
    if (lease !== null) {
      await migrateUnder(lease, store, dialect);
      break;
    }
    if (waits === 0) onWaiting("Another collector is updating the store's schema; this one waits for it.");
    await sleep(schemaWaitMs);
  }
  if (dialect.embedded) await handOnMark(store);
}

/**
 * The lease is renewed while a step runs, which may take minutes; if its collector is killed, nobody waits longer than
 * this.
 */
const schemaLeaseMs = 30_000;
const schemaWaitMs = 500;

async function migrateUnder(lease: Lease, store: Store, dialect: Dialect): Promise<void> {
  const renewing = setInterval(() => void lease.renew().catch(() => undefined), schemaLeaseMs / 3).unref();
  try {
    await migrateNow(store, dialect);
  } finally {
    clearInterval(renewing);
    await lease.release();
  }
}

async function isBehind(store: Store, dialect: Dialect): Promise<boolean> {
  const done = await readDone(store);
  const newest = largestOf([0, ...done.keys()]);
  const isMissing = steps.some(({ id }) => !done.has(id));
  // A schema that is too new is reported by `migrateNow`.
  if (isMissing || newest > (steps.at(-1) as Step).id || done.get(viewsId) !== checksumOf(guestViews(dialect)))
    return true;
  return (await findMissingColumns(store, dialect)).length > 0;
}

async function migrateNow(store: Store, dialect: Dialect): Promise<void> {
  const done = await readDone(store);
  const newest = largestOf([0, ...done.keys()]);
  const known = (steps.at(-1) as Step).id;
  if (newest > known) {
    throw new OtherSchema(`the database has schema ${newest}, but this release knows only ${known}: use a newer one`);
  }
  const isFresh = newest === 0;
  if (!isFresh && !done.has(firstStep.id))
    throw new OtherSchema(`the database has schema ${newest}, from before the first release: use an empty one`);
  for (const step of steps.filter(({ id }) => !done.has(id))) {
    const statements = isFresh && step !== firstStep ? [] : step.statements(dialect);
    for (const sql of statements) await store.ddl(sql);
    await record(store, step.id, step.name, checksumOf(statements));
  }
  await addMissingColumns(store, dialect);
  const views = guestViews(dialect);
  if (done.get(viewsId) !== checksumOf(views)) {
    for (const sql of views) await store.ddl(sql);
    await record(store, viewsId, "views", checksumOf(views));
  }
}

function readDone(store: Store): Promise<Map<number, string>> {
  const sql = `SELECT id, argMax(checksum, applied_ns) AS checksum FROM ${store.database}.migrations GROUP BY id`;
  return readMap(store, int, text, { sql });
}

function checksumOf(statements: readonly string[]): string {
  return createHash("sha256").update(statements.join(";\n")).digest("hex");
}

async function record(store: Store, id: number, name: string, checksum: string): Promise<void> {
  const appliedNs = BigInt(Date.now()) * 1_000_000n;
  const block = encodeObjects(migrationColumns, [{ id, name, checksum, applied_ns: appliedNs }]);
  await store.insert("migrations", block, { token: `migration-${id}-${checksum}-${appliedNs}` });
}

async function addMissingColumns(store: Store, dialect: Dialect): Promise<void> {
  for (const { layout, column } of await findMissingColumns(store, dialect))
    for (const sql of addColumn(layout, column, dialect)) await store.ddl(sql);
}

async function findMissingColumns(store: Store, dialect: Dialect) {
  const sql = "SELECT table, name FROM system.columns WHERE database = {database:String}";
  const rows = await readRows(store, { table: text, name: text }, { sql, params: { database: dialect.database } });
  const present = new Set(rows.map((row) => `${row.table}.${row.name}`));
  return tableLayouts.flatMap((layout) =>
    Object.keys(layout.columns)
      .filter((column) => !present.has(`${layout.name}.${column}`))
      .map((column) => ({ layout, column })),
  );
}
