// The runs table: filter, columns, groups, selection. Its whole state is the URL.

import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import type { FieldInfo, RunsQuery } from "#api/contract/run.ts";
import { SavedViews } from "../../app/saved-views.tsx";
import { defined } from "../../app/search.ts";
import { useSetSearch } from "../../app/url-choice.ts";
import { Refusal } from "../../data/client.ts";
import { useApi } from "../../data/use-api.ts";
import { Select } from "../../part/field.tsx";
import { CommandLine, Empty, Loading, PageProblem } from "../../part/notice.tsx";
import { formatCount } from "../../text/format-number.ts";
import { useOwnCommand } from "../start/own-command.ts";
import { ColumnPicker } from "./column-picker.tsx";
import { FilterBox } from "./filter-box.tsx";
import { builtIn, type ColumnChoice, readColumns, readPinned, readWidths, writeColumns } from "./grid-columns.ts";
import { useRememberView } from "./remembered-view.ts";
import { RunGrid } from "./run-grid.tsx";
import { chooseColumns, chooseSpark, groupFields, headingOf, parseRunsSearch, type RunsSearch } from "./runs-search.ts";
import "./runs.css";
import { SelectionBar } from "./selection-bar.tsx";
import { useRuns } from "./use-runs.ts";
import { useSelection } from "./use-selection.ts";

const route = getRouteApi("/runs");
const noFields: readonly FieldInfo[] = [];

type Change = (part: { [K in keyof RunsSearch]?: RunsSearch[K] | undefined }) => void;

export function RunsView() {
  const search = route.useSearch();
  useRememberView(search);
  const fields = useApi("fields", {}, { staleMs: 60_000 });
  const known = fields.data?.fields ?? noFields;
  const { choice, query, spark } = useQuestion(search, known);
  const table = useRuns(query, !fields.isPending);
  const { pages, runs, added, showAll, total } = table;
  const selection = useSelection(runs, total, query);
  const change: Change = useSetSearch();
  const onChoice = useCallback((next: ColumnChoice) => change({ widths: undefined, ...writeColumns(next) }), [change]);
  const filterError = search.filter !== undefined && pages.error instanceof Refusal ? pages.error : null;
  return (
    <>
      <RunsBar
        search={search}
        known={known}
        choice={choice}
        error={filterError}
        counted={!table.isCounted ? "" : `${formatCount(runs.length)} of ${formatCount(total)}`}
        onChoice={onChoice}
        onChange={change}
      />
      {added > 0 ? (
        <button type="button" className="row news" onClick={showAll}>
          {formatCount(added)} new {added === 1 ? "run" : "runs"} — show
        </button>
      ) : null}
      {pages.error !== null && filterError === null ? (
        <PageProblem error={pages.error} retry={() => void pages.refetch()} />
      ) : null}
      {pages.isPending && pages.error === null ? <Loading rows={10} /> : null}
      {pages.data !== undefined && runs.length === 0 ? <NoRuns filtered={search.filter !== undefined} /> : null}
      {runs.length === 0 ? null : (
        <RunGrid
          table={table}
          choice={choice}
          spark={spark}
          sort={search.sort}
          selection={selection}
          onChoice={onChoice}
          onSort={(sort) => change({ sort })}
        />
      )}
      {selection.selected.size > 0 ? (
        <SelectionBar
          runs={[...selection.selected.values()]}
          gathering={selection.gathering}
          columns={choice.columns}
          onClear={selection.clear}
        />
      ) : null}
    </>
  );
}

/** What the address asks for, and how it is laid out. */
function useQuestion(search: RunsSearch, known: readonly FieldInfo[]) {
  const choice = useMemo(
    () => ({
      columns: readColumns(search.columns, chooseColumns(known)),
      pinned: readPinned(search.pinned),
      widths: readWidths(search.widths),
    }),
    [search.columns, search.pinned, search.widths, known],
  );
  const columns = useMemo(() => choice.columns.filter((column) => !builtIn.has(column)), [choice]);
  const spark = choice.columns.includes("spark") ? (search.spark ?? chooseSpark(known)) : undefined;
  const query: RunsQuery = useMemo(
    () =>
      defined({
        filter: search.filter,
        sort: search.sort,
        columns,
        group: search.group,
        spark,
        archived: search.archived,
      }),
    [search.filter, search.sort, search.group, search.archived, columns, spark],
  );
  return { choice, query, spark };
}

interface RunsBarProps {
  readonly search: RunsSearch;
  readonly known: readonly FieldInfo[];
  readonly choice: ColumnChoice;
  readonly error: Error | null;
  readonly counted: string;
  readonly onChoice: (choice: ColumnChoice) => void;
  readonly onChange: Change;
}

function RunsBar({ search, known, choice, error, counted, onChoice, onChange }: RunsBarProps) {
  const onFilter = useCallback(
    (filter: string) => onChange({ filter: filter === "" ? undefined : filter }),
    [onChange],
  );
  const navigate = useNavigate({ from: "/runs" });
  return (
    <div className="row bar wrap">
      <FilterBox value={search.filter ?? ""} fields={known} error={error} onChange={onFilter} />
      <SavedViews
        page="runs"
        search={{ ...search }}
        path="/runs"
        what="Filter, order, columns and group."
        onOpen={(view) => void navigate({ search: parseRunsSearch(view) })}
      />
      <ColumnPicker
        fields={known}
        choice={choice}
        usual={search.columns === undefined && search.pinned === undefined && search.widths === undefined}
        onChange={onChoice}
        onReset={() => onChange({ columns: undefined, pinned: undefined, widths: undefined })}
      />
      <Select
        caption="group"
        style={{ maxWidth: 180 }}
        value={search.group ?? ""}
        options={[["", "none"], ...groupFields(known, search.group).map((field) => [field, headingOf(field)] as const)]}
        onChange={(group) => onChange({ group: group || undefined })}
      />
      <span className="muted" aria-live="polite">
        {counted}
      </span>
    </div>
  );
}

function NoRuns({ filtered }: { readonly filtered: boolean }) {
  const importLine = useOwnCommand("import ./path/to/traces");
  if (filtered) {
    return (
      <Empty title="No run matches the filter.">
        <Link to="/runs" className="button">
          show all runs
        </Link>
      </Empty>
    );
  }
  return (
    <Empty title="No runs yet.">
      <p>Point a client at this server, or import what you have:</p>
      <CommandLine text={importLine} />
      <Link to="/start" className="button">
        copy-ready lines for each client
      </Link>
    </Empty>
  );
}
