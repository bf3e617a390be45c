// Read-only SQL over everything stored.

import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { SqlAnswer } from "#api/contract/sql.ts";
import { Refusal, urlOf } from "../../data/client.ts";
import { useApi, useChange } from "../../data/use-api.ts";
import { Button, CopyButton } from "../../part/button.tsx";
import { Choice } from "../../part/field.tsx";
import { Problem } from "../../part/notice.tsx";
import { saveFile } from "../../part/save-file.ts";
import { Wrong } from "../../part/suggestions.tsx";
import { formatCount } from "../../text/format-number.ts";
import { formatMs } from "../../text/format-time.ts";
import "./sql.css";
import { usePreference } from "../../app/preference.ts";
import { SqlEditor } from "./sql-editor.tsx";
import { SqlChart, SqlTable } from "./sql-result.tsx";

const route = getRouteApi("/sql");
const examples: readonly (readonly [string, string])[] = [
  [
    "the best runs",
    "SELECT run_id, min(value) AS best\nFROM metrics\nWHERE key = 'val_loss' AND isFinite(value)\nGROUP BY run_id\nORDER BY best\nLIMIT 20",
  ],
  [
    "time by span",
    "SELECT name, count() AS n, sum(end_ns - start_ns) / 1e9 AS wall_s\nFROM spans\nGROUP BY name\nORDER BY wall_s DESC",
  ],
  [
    "a series",
    "SELECT step, avg(value) AS loss\nFROM metrics\nWHERE key = 'loss' AND isFinite(value)\nGROUP BY step\nORDER BY step\nLIMIT 1000",
  ],
  ["faults by code", "SELECT code, count() AS n\nFROM faults\nGROUP BY code\nORDER BY n DESC"],
];

/** More rows than anyone reads make the page heavy; a file takes all of them. */
const rowsMax = 10_000;

export function SqlView() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/sql" });
  const schema = useApi("sqlSchema", {}, { staleMs: 300_000 });
  const run = useChange("sql", []);
  const [history, remember] = useSqlHistory();
  const [text, setText] = useState(search.q ?? examples[0]?.[1] ?? "");
  /** Stays until the next one is here. */
  const [shown, setShown] = useState<{ readonly query: string; readonly answer: SqlAnswer } | null>(null);
  const [mode, setMode] = useState<"table" | "chart">("table");
  useEffect(() => {
    if (search.q !== undefined) setText(search.q);
  }, [search.q]);
  const ask = () => {
    void navigate({ search: { q: text }, replace: true });
    remember(text);
    run.mutate(
      { body: { query: text, limit: rowsMax } },
      { onSuccess: (answer) => setShown({ query: text, answer }), onError: () => setShown(null) },
    );
  };
  const at = run.error instanceof Refusal ? run.error.answer.at : null;
  return (
    <div className="beside sql fill">
      <aside className="small sql-tables" aria-label="Tables">
        {schema.data?.tables.map((table) => (
          <details key={table.name}>
            <summary title={table.means}>{table.name}</summary>
            <ul>
              {table.columns.map((column) => (
                <li key={column.name} className="row">
                  <code className="clip grow">{column.name}</code>
                  <span className="muted clip">{column.type}</span>
                </li>
              ))}
            </ul>
          </details>
        ))}
        <QueryList title="examples" queries={examples} onPick={setText} />
        <QueryList
          title="asked before"
          queries={history.map((query) => [query.replace(/\s+/g, " "), query] as const)}
          onPick={setText}
        />
      </aside>
      <div className="column">
        <div className="stack sql-ask">
          <SqlEditor value={text} schema={schema.data} invalid={run.error !== null} onChange={setText} onRun={ask} />
          <div className="row wrap">
            <Button look="primary" disabled={run.isPending || text.trim() === ""} onClick={ask}>
              run <kbd>⌘⏎</kbd>
            </Button>
            {run.isPending ? <span className="muted">running…</span> : shown && <ResultLine answer={shown.answer} />}
            <span className="grow" />
            {shown === null ? null : (
              <>
                <CopyButton text={() => toTsv(shown.answer)} label="copy as tab-separated text" />
                <SaveAs query={shown.query} />
                <Choice label="Show as" options={["table", "chart"]} value={mode} onChange={setMode} />
              </>
            )}
          </div>
          {run.error === null ? null : (
            <>
              <Problem error={run.error} />
              {at?.offset === undefined ? null : <Wrong text={text} at={at} />}
            </>
          )}
        </div>
        {shown === null ? null : (
          <div className={`column fill ${run.isPending ? "outdated" : ""}`}>
            {mode === "table" ? <SqlTable answer={shown.answer} /> : <SqlChart answer={shown.answer} />}
          </div>
        )}
      </div>
    </div>
  );
}

/** The whole answer as a file: no row is cut off that the server allows. */
function SaveAs({ query }: { readonly query: string }) {
  const [error, setError] = useState<Error | null>(null);
  const save = async (format: "csv" | "parquet") => {
    const response = await fetch(urlOf("sql", { body: { query } }), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query, format }),
    });
    if (!response.ok) throw new Error(`The server answered ${response.status} ${response.statusText}.`);
    saveFile(await response.blob(), `query.${format}`);
  };
  return (
    <>
      {error === null ? null : <span className="status-failed">{error.message}</span>}
      {(["csv", "parquet"] as const).map((format) => (
        <Button
          key={format}
          look="small"
          icon="download"
          onClick={() => save(format).then(() => setError(null), setError)}
        >
          {format}
        </Button>
      ))}
    </>
  );
}

function ResultLine({ answer }: { readonly answer: SqlAnswer }) {
  return (
    <span className="muted" role="status">
      {formatCount(answer.rows.length)} {answer.rows.length === 1 ? "row" : "rows"} in {formatMs(answer.elapsed_ms)}
      {answer.truncated ? <span className="status-warn">, cut off at the limit</span> : null}
    </span>
  );
}

function toTsv(answer: SqlAnswer): string {
  const line = (cells: readonly unknown[]) =>
    cells.map((cell) => String(cell ?? "").replace(/[\t\n]/g, " ")).join("\t");
  return [line(answer.columns.map((column) => column.name)), ...answer.rows.map(line)].join("\n");
}

const kept = 20;

/** The queries that were asked last, in this browser. */
function useSqlHistory(): [readonly string[], (query: string) => void] {
  const [text, setText] = usePreference<string>("sql-history", "[]");
  const queries = parseQueries(text);
  return [
    queries,
    (query) => setText(JSON.stringify([query, ...queries.filter((one) => one !== query)].slice(0, kept))),
  ];
}

function parseQueries(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
  } catch {
    return [];
  }
}

interface QueryListProps {
  readonly title: string;
  readonly queries: readonly (readonly [name: string, query: string])[];
  readonly onPick: (query: string) => void;
}

function QueryList({ title, queries, onPick }: QueryListProps) {
  if (queries.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {queries.map(([name, query]) => (
          <li key={query}>
            <button type="button" className="menu-item" title={query} onClick={() => onPick(query)}>
              <span className="clip">{name}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
