// Lines through the real decoder and intake, and out as the rows that the store would give back.

import { readdirSync, readFileSync } from "node:fs";
import { ArrayColumn, NullableColumn } from "#base/columns.ts";
import { atOnce } from "#base/turns.ts";
import type { Applied } from "#intake/applied.ts";
import type { KnownRecords } from "#intake/intake-state.ts";
import { KnownGroups } from "#intake/known-groups.ts";
import { RecentIds } from "#intake/recent-ids.ts";
import { applySemantiva } from "#intake/semantiva/apply.ts";
import { readLinesInSteps } from "#intake/semantiva/lines-input.ts";
import type { AnyColumn, FactTable } from "#model/tables.ts";
import type { LifecycleRow, NodeRow } from "#store/reader/pipelines.ts";
import { bundledSchemas } from "#wire/semantiva/bundled.ts";
import { createRegistry } from "#wire/semantiva/registry.ts";

const registry = createRegistry(bundledSchemas);
export const fixtures = "tests/fixtures/semantiva";
type Row = Readonly<Record<string, unknown>>;

export interface Fed {
  readonly lifecycle: LifecycleRow[];
  readonly nodes: (NodeRow & { readonly run_id: string })[];
  /** Payloads by event id, of nodes and events. */
  readonly payloads: Map<string, string>;
  readonly applied: Applied[];
}

export interface FeedOptions {
  readonly workspace?: string;
  readonly runOverride?: string | null;
  readonly receivedNs?: bigint;
}

/** Each string is one chunk of whole lines, applied in turn to one state. */
export function feed(chunks: readonly string[], options: FeedOptions = {}): Fed {
  const { workspace = "w", runOverride = null, receivedNs = 5n } = options;
  const state = createState();
  const applied = chunks.map((chunk, position) => {
    const body = new TextEncoder().encode(chunk);
    const decoded = atOnce(readLinesInSteps({ workspace, body, file: "", firstLine: 1, offset: 0 }, registry));
    return applySemantiva(state, decoded, {
      workspace,
      receivedNs,
      position: position + 1,
      transport: "file",
      runOverride,
      imported: true,
    });
  });
  const rows = (table: FactTable) => applied.flatMap((part) => rowsOf(part, table));
  const lifecycle = rows("lifecycle").map((row) => numbered(row) as unknown as LifecycleRow);
  const nodes = rows("nodes").map(
    (row) => ({ ...numbered(row), run_id: toRunId(row) }) as unknown as NodeRow & { run_id: string },
  );
  const payloads = new Map(
    [...rows("nodes"), ...rows("events")].map((row) => [row["event_id"] as string, row["payload"] as string]),
  );
  return { lifecycle, nodes, payloads, applied };
}

function createState(): KnownRecords {
  return { groups: new KnownGroups(), faults: new RecentIds() };
}

/** The trace files of a sample, by their path in the fixtures. */
export function traceFiles(sample: string): string[] {
  return readdirSync(`${fixtures}/${sample}`, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".jsonl"))
    .map((path) => `${sample}/${path}`)
    .sort();
}

export function readLines(path: string): string[] {
  return readFileSync(`${fixtures}/${path}`, "utf8").trimEnd().split("\n");
}

function rowsOf(applied: Applied, table: FactTable): Row[] {
  const part = applied.parts.find((candidate) => candidate.table === table);
  if (part === undefined) return [];
  const columns = Object.entries<AnyColumn>(part.rows);
  return Array.from({ length: part.rows.group_key.length }, (_, row) =>
    Object.fromEntries(columns.map(([name, column]) => [name, cell(column, row)])),
  ).filter((_, row) => part.dropped?.[row] !== 1);
}

function cell(column: AnyColumn, row: number): unknown {
  if (column instanceof NullableColumn) return column.isNull(row) ? null : column.inner.at(row);
  if (column instanceof ArrayColumn) {
    const start = row === 0 ? 0 : column.ends.at(row - 1);
    return Array.from({ length: column.ends.at(row) - start }, (_, i) => column.items.at(start + i));
  }
  return column.at(row);
}

/** Small integers as numbers, times as they are. */
function numbered(row: Row): Row {
  return Object.fromEntries(
    Object.entries({ ...row, collector: "" }).map(([name, value]) => [
      name,
      typeof value === "bigint" && !name.endsWith("_ns") ? Number(value) : value,
    ]),
  );
}

function toRunId(row: Row): string {
  const key = row["group_key"] as string;
  return key.slice(key.indexOf("/s/") + 3);
}

/** A seeded source of numbers in [0, 1), so that a failing variant can be run again. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

export function shuffle<T>(items: readonly T[], random: () => number): T[] {
  const shuffled = [...items];
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [shuffled[i], shuffled[j]] = [shuffled[j] as T, shuffled[i] as T];
  }
  return shuffled;
}
