// The runs table: filter, columns, groups, selection. Its whole state is the URL.

import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo, useRef, useState } from "react";
import type { RunsQuery } from "#api/contract/run.ts";
import { defined } from "../../app/search.ts";
import { useApi } from "../../data/use-api.ts";
import { CommandLine, Empty, Loading, Problem } from "../../part/notice.tsx";
import { formatCount } from "../../text/format-number.ts";
import { ColumnPicker } from "./column-picker.tsx";
import { FilterBox } from "./filter-box.tsx";
import { builtIn, type ColumnChoice, readColumns, readPinned, readWidths, writeColumns } from "./grid-columns.ts";
import { RunGrid } from "./run-grid.tsx";
import { chooseColumns, chooseSpark, headingOf, type RunsSearch } from "./runs-search.ts";
import "./runs.css";
import { SelectionBar } from "./selection-bar.tsx";
import { useRuns } from "./use-runs.ts";

const route = getRouteApi("/runs");
const noGroups: ReadonlySet<string> = new Set();

export function RunsView() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/runs" });
  const fields = useApi("fields", {}, { staleMs: 60_000 });
  const known = fields.data?.fields ?? [];
  const choice = useMemo(
    () => ({
      columns: readColumns(search.columns, chooseColumns(fields.data?.fields ?? [])),
      pinned: readPinned(search.pinned),
      widths: readWidths(search.widths),
    }),
    [search.columns, search.pinned, search.widths, fields.data],
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
  const { pages, runs, added, showAll, total, groups } = useRuns(query, !fields.isPending);
  const [selected, setSelected] = useState<ReadonlySet<string>>(noGroups);
  const [closed, setClosed] = useState<ReadonlySet<string>>(noGroups);
  const change = useCallback(
    (part: { [K in keyof RunsSearch]?: RunsSearch[K] | undefined }) =>
      void navigate({ search: (before: RunsSearch) => defined({ ...before, ...part }) as RunsSearch, replace: true }),
    [navigate],
  );
  const onChoice = useCallback((next: ColumnChoice) => change({ widths: undefined, ...writeColumns(next) }), [change]);
  const onFilter = useCallback((filter: string) => change({ filter: filter === "" ? undefined : filter }), [change]);
  const onEnd = useCallback(() => {
    if (!pages.isFetchingNextPage) void pages.fetchNextPage();
  }, [pages.isFetchingNextPage, pages.fetchNextPage]);
  const toggle = (set: ReadonlySet<string>, value: string) => {
    const next = new Set(set);
    if (!next.delete(value)) next.add(value);
    return next;
  };
  const lastTicked = useRef("");
  /** With Shift, every run between the last one ticked and this one becomes as this one. */
  const onToggle = (id: string, range: boolean) => {
    const at = runs.findIndex((run) => run.id === id);
    const from = runs.findIndex((run) => run.id === lastTicked.current);
    lastTicked.current = id;
    if (!range || from < 0) return setSelected((before) => toggle(before, id));
    const between = runs.slice(Math.min(at, from), Math.max(at, from) + 1).map((run) => run.id);
    setSelected((before) => {
      const next = new Set(before);
      for (const each of between) before.has(id) ? next.delete(each) : next.add(each);
      return next;
    });
  };
  const filterError = search.filter === undefined ? null : pages.error;
  return (
    <>
      <div className="bar wrap">
        <FilterBox value={search.filter ?? ""} fields={known} error={filterError} onChange={onFilter} />
        <ColumnPicker
          fields={known}
          choice={choice}
          usual={search.columns === undefined && search.pinned === undefined && search.widths === undefined}
          onChange={onChoice}
          onReset={() => change({ columns: undefined, pinned: undefined, widths: undefined })}
        />
        <label className="row">
          <span className="muted">group</span>
          <select
            className="select"
            value={search.group ?? ""}
            onChange={(event) => change({ group: event.target.value === "" ? undefined : event.target.value })}
          >
            <option value="">none</option>
            {[
              "experiment",
              "status",
              "protocol",
              "launch",
              ...columns.filter((column) => column.startsWith("params.")),
            ].map((field) => (
              <option key={field} value={field}>
                {headingOf(field)}
              </option>
            ))}
          </select>
        </label>
        <span className="muted" aria-live="polite">
          {formatCount(runs.length)} of {formatCount(total)}
        </span>
      </div>
      {added > 0 ? (
        <button type="button" className="news" onClick={showAll}>
          {formatCount(added)} new {added === 1 ? "run" : "runs"} — show
        </button>
      ) : null}
      {pages.error !== null && filterError === null ? (
        <div style={{ padding: 16 }}>
          <Problem error={pages.error} retry={() => void pages.refetch()} />
        </div>
      ) : null}
      {pages.isPending && pages.error === null ? <Loading rows={10} /> : null}
      {pages.data !== undefined && runs.length === 0 ? <NoRuns filtered={search.filter !== undefined} /> : null}
      {runs.length === 0 ? null : (
        <RunGrid
          runs={runs}
          groups={groups}
          closed={closed}
          choice={choice}
          spark={spark}
          sort={search.sort}
          selected={selected}
          more={pages.hasNextPage}
          onChoice={onChoice}
          onSort={(sort) => change({ sort })}
          onToggle={onToggle}
          onToggleAll={() =>
            setSelected((before) => (before.size >= runs.length ? noGroups : new Set(runs.map((run) => run.id))))
          }
          onGroup={(value) => setClosed((before) => toggle(before, value))}
          onEnd={onEnd}
        />
      )}
      {selected.size > 0 ? (
        <SelectionBar
          runs={runs.filter((run) => selected.has(run.id))}
          columns={choice.columns}
          onClear={() => setSelected(noGroups)}
        />
      ) : null}
    </>
  );
}

function NoRuns({ filtered }: { readonly filtered: boolean }) {
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
      <CommandLine text="tributary import ./path/to/traces" />
      <Link to="/start" className="button">
        copy-ready lines for each client
      </Link>
    </Empty>
  );
}
