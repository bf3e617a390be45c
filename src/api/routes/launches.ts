// GET /launches and GET /launches/<id>/<attempt>: sweeps, their plan and a cell for each run.

import { type ApiContext, limitDefault, type Route } from "#api/context.ts";
import type { LaunchAnswer, LaunchCell } from "#api/contract/launch.ts";
import type { Cell, RunStatus } from "#api/contract/run.ts";
import { anyText, decodeTexts, encodeCursor, int64 } from "#api/cursor.ts";
import { toExactJson } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import type { FieldRef } from "#query/runs/field.ts";
import { readFoundRuns } from "#query/runs/find-run.ts";
import { toRunHead } from "#query/runs/head.ts";
import { readCells } from "#query/runs/list.ts";
import { readFactsOfRuns } from "#query/runs/run-detail.ts";
import { type Grid, type GridCell, pickBest, toGrid } from "#query/semantiva/grid.ts";
import { groupPipelines } from "#query/semantiva/pipeline-groups.ts";
import { listLaunches, readLaunch, statusOfOutcome } from "#query/semantiva/read-launches.ts";
import { endedBy } from "#query/sources.ts";
import { readField, toCells } from "./runs.ts";

export const launchesRoute: Route<"launches"> = async (context, { query, caller, signal, asOf }) => {
  const limit = query.limit ?? limitDefault;
  const page = { workspace: caller.workspace, limit, after: readAfter(query.cursor) };
  const { launches, next } = await listLaunches(endedBy(context.sources, signal), page, context.head());
  return { launches, next: encodeCursor(next && [next.startNs.toString(), next.launchKey]), as_of: asOf };
};

function readAfter(cursor: string | undefined): { startNs: bigint; launchKey: string } | null {
  const [startNs, launchKey] = decodeTexts(cursor, int64, anyText) ?? [];
  return startNs === undefined || launchKey === undefined ? null : { startNs: BigInt(startNs), launchKey };
}

export const launchRoute: Route<"launch"> = async (context, { params, query, caller, signal, asOf }) => {
  const { workspace } = caller;
  const launch = await readLaunch(endedBy(context.sources, signal), { workspace, ...params }, context.head());
  if (launch === null) throw unknownLaunch(params.id, params.attempt);
  const { summary, start } = launch;
  const grid = toGrid(launch.members, summary.planned);
  const { spec_id, inputs_id, constants, inputs } = start;
  const columns = (query.columns ?? []).map((text) => readField(text, "columns"));
  const best = query.best === undefined ? null : readBest(query.best);
  const rows = await readRows(context, workspace, grid, [...columns, ...(best === null ? [] : [best.field])]);
  const cells = toLaunchCells(grid, rows, columns);
  return toExactJson<LaunchAnswer>({
    ...summary,
    // What the cells say, so that the two never differ.
    statuses: countBy(cells.map(({ status }) => status)),
    spec_id,
    inputs_id,
    constants,
    inputs,
    axes: grid.axes.map(({ name, values, numeric }) => ({ name, values: [...values], numeric })),
    grid: cells,
    duplicates: grid.duplicates.map(({ context: shared, runs }) => ({ context: { ...shared }, runs: [...runs] })),
    ...(best === null ? {} : { best: toBest(grid, rows, best) }),
    pipelines: groupPipelines(launch.members).map(({ configs, pipeline_ids, ...group }) => ({
      ...group,
      pipeline_ids: [...pipeline_ids],
      configs: configs.map(({ config_id, runs }) => ({ config_id, runs: [...runs] })),
    })),
    as_of: asOf,
  });
};

function unknownLaunch(id: string, attempt: number): Refusal {
  return new Refusal("launch_not_found", `There is no launch ${JSON.stringify(id)} with attempt ${attempt}.`, {
    hint: "List launches with GET /api/v1/launches; a retry of a launch is a new attempt.",
    at: { part: "path", name: "id" },
  });
}

/** What the table of runs knows of a launch's runs. */
interface RunRow {
  readonly name: string;
  readonly status: RunStatus;
  readonly cells: Record<string, Cell>;
}

/** In a large launch only runs that have not ended are looked at one by one, up to a limit. */
const openRunsMax = 1000;

async function readRows(
  context: ApiContext,
  workspace: string,
  grid: Grid,
  fields: readonly FieldRef[],
): Promise<Map<string, RunRow>> {
  const wanted = fields.length > 0 ? grid.cells : grid.cells.filter(({ status }) => status === "unfinished");
  const runs = wanted.flatMap(({ run_id }) => (run_id === null ? [] : [run_id]));
  if (runs.length === 0 || (fields.length === 0 && runs.length > openRunsMax)) return new Map();
  return fields.length === 0 ? readOpenRuns(context, workspace, runs) : readTableRows(context, workspace, runs, fields);
}

async function readOpenRuns(
  { sources, head }: ApiContext,
  workspace: string,
  runs: readonly string[],
): Promise<Map<string, RunRow>> {
  const found = await readFoundRuns(sources, workspace, runs);
  const now = head();
  return new Map(
    (await readFactsOfRuns(sources, workspace, found)).map((run) => [
      run.runId,
      { name: run.runId, status: toRunHead(run, now).status, cells: {} },
    ]),
  );
}

async function readTableRows(
  { sources, head }: ApiContext,
  workspace: string,
  runs: readonly string[],
  fields: readonly FieldRef[],
): Promise<Map<string, RunRow>> {
  const rows = await readCells(sources, { workspace, runs, fields }, head());
  return new Map(
    rows.map(({ row, cells }) => [row.runId, { name: row.name, status: row.head.status, cells: toCells(cells) }]),
  );
}

function toLaunchCells(grid: Grid, rows: ReadonlyMap<string, RunRow>, columns: readonly FieldRef[]): LaunchCell[] {
  const names = new Set(columns.map((field) => field.text));
  return grid.cells.map((cell) => {
    const row = cell.run_id === null ? undefined : rows.get(cell.run_id);
    const shown = Object.entries(row?.cells ?? {}).filter(([name]) => names.has(name));
    return {
      index: cell.index,
      run: cell.run_id,
      name: row?.name ?? cell.run_id ?? "",
      status: toCellStatus(cell, row),
      context: cell.context as Record<string, string>,
      cells: Object.fromEntries(shown),
    };
  });
}

function toCellStatus({ status }: GridCell, row: RunRow | undefined): LaunchCell["status"] {
  if (status === "missing") return status;
  return status === "unfinished" && row !== undefined ? row.status : statusOfOutcome[status];
}

interface BestQuestion {
  readonly field: FieldRef;
  readonly direction: "min" | "max";
}

function readBest(text: string): BestQuestion {
  const isMax = text.startsWith("-");
  return { field: readField(isMax ? text.slice(1) : text, "best"), direction: isMax ? "max" : "min" };
}

function toBest(
  grid: Grid,
  rows: ReadonlyMap<string, RunRow>,
  { field, direction }: BestQuestion,
): NonNullable<LaunchAnswer["best"]> | null {
  const toValue = (run: string) => {
    const num = rows.get(run)?.cells[field.text]?.num;
    return typeof num === "number" ? num : undefined;
  };
  const best = pickBest(grid.cells, toValue, direction);
  const value = best?.run_id ? rows.get(best.run_id)?.cells[field.text] : undefined;
  return best?.run_id && value !== undefined ? { run: best.run_id, value } : null;
}

function countBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
