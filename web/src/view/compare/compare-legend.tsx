// The runs of a comparison with their colours, what to colour and group them by, and the values under the pointer.

import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { RunSummary } from "#api/contract/run.ts";
import { useTheme } from "../../app/theme.ts";
import { useSetSearch } from "../../app/url-choice.ts";
import { useApi } from "../../data/use-api.ts";
import { Button, IconButton } from "../../part/button.tsx";
import { Select, TextField } from "../../part/field.tsx";
import { Icon } from "../../part/icon.tsx";
import { Name } from "../../part/name.tsx";
import { Status } from "../../part/status.tsx";
import { toggled } from "../../part/toggled.ts";
import { formatNumber } from "../../text/format-number.ts";
import { useHover } from "./hover.ts";
import { scaleColours } from "./run-colours.ts";
import { colourOf, useCompare } from "./use-comparison.ts";

export function CompareLegend() {
  const { compare, search, look } = useCompare();
  const ids = search.run ?? [];
  const list = (runs: readonly RunSummary[]) => (
    <ul>
      {runs.map((run) => (
        <LegendItem key={run.id} run={run} />
      ))}
    </ul>
  );
  return (
    <>
      <ColourChoice />
      {compare.missing.length === 0 ? null : <Missing missing={compare.missing} ids={ids} />}
      <div className="legend-runs">
        {look.groups === null
          ? list(compare.runs)
          : look.groups.map((group) => (
              <section key={group.text} aria-label={group.text}>
                <h2 className="row legend-group" aria-label={group.text}>
                  <i className="swatch" style={{ background: group.colour }} />
                  <Name>{group.text}</Name>
                  <span className="muted">{group.ids.length}</span>
                </h2>
                {list(compare.runs.filter(({ id }) => group.ids.includes(id)))}
              </section>
            ))}
      </div>
      <AddRun ids={ids} />
      <HoverTable />
    </>
  );
}

/** Colour and group by any parameter that differs or any metric. */
function ColourChoice() {
  const { look, search } = useCompare();
  const setSearch = useSetSearch();
  const theme = useTheme();
  const options = look.axes.map((axis) => [axis.name, axis.label] as const);
  const scale = look.groups === null && look.colourAxis?.words === null ? look.colourAxis : null;
  return (
    <div className="legend-choice">
      <label>
        <span className="muted">colour</span>
        <Select
          value={search.colour ?? ""}
          disabled={look.groups !== null}
          options={[["", "each run its own"], ...options]}
          onChange={(colour) => setSearch({ colour: colour || undefined })}
        />
      </label>
      <label>
        <span className="muted">group</span>
        <Select
          value={search.group ?? ""}
          options={[["", "not grouped"], ...options]}
          onChange={(group) => setSearch({ group: group || undefined })}
        />
      </label>
      {scale === null ? null : (
        <div className="row muted legend-scale" aria-hidden="true">
          <span>{scale.ticks[0]?.text}</span>
          <i style={{ background: `linear-gradient(to right, ${scaleColours(theme).join()})` }} />
          <span>{scale.ticks.at(-1)?.text}</span>
        </div>
      )}
    </div>
  );
}

function Missing({ missing, ids }: { readonly missing: readonly string[]; readonly ids: readonly string[] }) {
  const setSearch = useSetSearch();
  return (
    <p className="row legend-missing status-warn" role="status">
      <span>
        {missing.length === 1 ? "One run is" : `${missing.length} runs are`} not here any more and left out:{" "}
        <code>{missing.join(", ")}</code>
      </span>
      <Button look="small" onClick={() => setSearch({ run: ids.filter((id) => !missing.includes(id)) })}>
        drop
      </Button>
    </p>
  );
}

function LegendItem({ run }: { readonly run: RunSummary }) {
  const { compare, search, look, alone, setAlone } = useCompare();
  const setSearch = useSetSearch();
  const { run: ids = [], hide = [] } = search;
  const isHidden = hide.includes(run.id);
  const isBase = compare.runs[0]?.id === run.id;
  return (
    <li className={`row legend-item ${isHidden || (alone !== null && alone !== run.id) ? "faded" : ""}`}>
      <IconButton
        icon={isHidden ? "hidden" : "eye"}
        label={isHidden ? `Show ${run.name}` : `Hide ${run.name}`}
        onClick={() => setSearch({ hide: toggled(hide, run.id) })}
      />
      <button
        type="button"
        className="grid-sort grow"
        aria-pressed={alone === run.id}
        aria-label={run.name}
        title={`${run.name}: show it alone`}
        onClick={() => setAlone(alone === run.id ? null : run.id)}
      >
        <i className="swatch" style={{ background: look.colours.get(run.id) }} />
        <Name>{run.name}</Name>
      </button>
      {run.status === "completed" ? null : <Status status={run.status} />}
      <IconButton
        look={`quiet small ${isBase ? "" : "on-hover"}`}
        icon="flag"
        label={`Measure by ${run.name}`}
        title={isBase ? "the others are measured by this run" : "measure the others by this run"}
        aria-pressed={isBase}
        onClick={() => setSearch({ base: run.id })}
      />
      <Link
        to="/runs/$id/charts"
        params={{ id: run.id }}
        className="button quiet small icon on-hover"
        aria-label={`Open ${run.name}`}
      >
        <Icon name="right" size={14} />
      </Link>
      <IconButton
        look="quiet small on-hover"
        icon="cross"
        label={`Leave out ${run.name}`}
        onClick={() =>
          setSearch({ run: ids.filter((id) => id !== run.id), hide: hide.filter((id) => id !== run.id) }, "as a step")
        }
      />
    </li>
  );
}

export function AddRun({ ids }: { readonly ids: readonly string[] }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const asked = text.replace(/[^\p{L}\p{N}_.-]+/gu, " ").trim();
  const runs = useApi(
    "runs",
    { query: { limit: 8, filter: `name~"${asked}"` } },
    { enabled: asked !== "", keep: true },
  );
  return (
    <div className="add-run">
      <TextField label="Add a run by name" value={text} onChange={setText} />
      {asked === "" ? null : (
        <ul>
          {runs.data?.runs
            .filter((run) => !ids.includes(run.id))
            .map((run) => (
              <li key={run.id}>
                <button
                  type="button"
                  className="menu-item"
                  onClick={() => {
                    setText("");
                    void navigate({ to: "/compare", search: (before) => ({ ...before, run: [...ids, run.id] }) });
                  }}
                >
                  <Icon name="plus" size={12} />
                  <Name>{run.name}</Name>
                </button>
              </li>
            ))}
        </ul>
      )}
    </div>
  );
}

/** All runs at the position under the pointer, sorted by value, with the distance to the run they are measured by. */
function HoverTable() {
  const { compare, look } = useCompare();
  const hover = useHover();
  const names = new Map(compare.runs.map((run) => [run.id, run.name]));
  const base = hover?.rows.find((row) => row.run === compare.runs[0]?.id)?.value ?? null;
  return (
    <section className={`hover-table ${hover === null ? "wide-only" : ""}`} aria-label="Values under the pointer">
      {hover === null ? (
        <p className="muted">Point at a chart to read all runs there, sorted by value.</p>
      ) : (
        <>
          <h2 aria-label={`${hover.title} at ${hover.at}`}>
            <Name>{hover.title}</Name> <span className="muted">at {hover.at}</span>
          </h2>
          <table>
            <tbody>
              {hover.rows.map(({ run, value, nan }) => (
                <tr key={run}>
                  <td>
                    <i className="swatch" style={{ background: colourOf(run, look) }} />
                  </td>
                  <td className="hover-name">
                    <Name>{names.get(run) ?? run}</Name>
                  </td>
                  <td className="num">{nan ? "NaN" : value === null ? "–" : formatNumber(value, 5)}</td>
                  <td className="num muted">{difference(value, base, run === compare.runs[0]?.id)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  );
}

function difference(value: number | null, base: number | null, isBase: boolean): string {
  if (value === null || base === null || isBase) return "";
  const by = value - base;
  return `${by < 0 ? "−" : "+"}${formatNumber(Math.abs(by), 3)}`;
}
