// What the palette offers. Metrics and commands of the open run appear once something is typed, so that the list
// starts short.

import { useNavigate, useRouterState } from "@tanstack/react-router";
import { Command } from "cmdk";
import { type ReactNode, useDeferredValue } from "react";
import { fromSegment } from "#api/contract/segment.ts";
import { panelId } from "../chart/metric-groups.ts";
import { urlOf } from "../data/client.ts";
import { useApi } from "../data/use-api.ts";
import { Icon, type IconName } from "../part/icon.tsx";
import { Name } from "../part/name.tsx";
import { Status } from "../part/status.tsx";
import { countOf, formatFloat } from "../text/format-number.ts";
import { commandChoices } from "../view/control/choices.ts";
import { runTabs } from "../view/run/tabs.ts";
import { headingOf } from "../view/runs/runs-search.ts";
import { places } from "./places.ts";
import { useOtherTheme } from "./theme.ts";

/** The id of the run whose page is open. */
export function useOpenRun(): string | null {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const id = /^\/runs\/([^/]+)/.exec(path)?.[1];
  return id === undefined ? null : fromSegment(decodeURIComponent(id));
}

interface Group {
  readonly onDone: () => void;
}

/** Navigates, and closes the palette. */
function useGo(onDone: () => void): ReturnType<typeof useNavigate> {
  const navigate = useNavigate();
  return (to) => {
    onDone();
    return navigate(to);
  };
}

interface EntryProps {
  readonly value: string;
  readonly icon?: IconName;
  readonly onSelect: () => void;
  readonly children: ReactNode;
}

function Entry({ value, icon, onSelect, children }: EntryProps) {
  return (
    <Command.Item className="menu-item" value={value} onSelect={onSelect}>
      {icon === undefined ? null : <Icon name={icon} size={14} />}
      {children}
    </Command.Item>
  );
}

interface ActsProps {
  readonly heading: string;
  /** The last are other words by which it is found. */
  readonly acts: readonly (readonly [words: string, icon: IconName, act: () => void, also?: string])[];
}

function Acts({ heading, acts }: ActsProps) {
  return (
    <Command.Group heading={heading}>
      {acts.map(([words, icon, act, also = ""]) => (
        <Entry key={words} value={`${words} ${also}`} icon={icon} onSelect={act}>
          {words}
        </Entry>
      ))}
    </Command.Group>
  );
}

export function Runs({ text, onDone }: Group & { readonly text: string }) {
  const go = useGo(onDone);
  const asked = useDeferredValue(text)
    .replace(/[^\p{L}\p{N}_.-]+/gu, " ")
    .trim();
  const filter = asked === "" ? "" : `name~"${asked}" OR id~"${asked}"`;
  const runs = useApi("runs", { query: { limit: 12, filter, sort: ["-start"] } }, { keep: true });
  return (
    <Command.Group heading="runs">
      {runs.data?.runs.map((run) => (
        <Entry
          key={run.id}
          value={`run ${run.name} ${run.id}`}
          onSelect={() => void go({ to: "/runs/$id/charts", params: { id: run.id } })}
        >
          <span className="grow">
            <Name>{run.name}</Name>
          </span>
          <Status status={run.status} />
        </Entry>
      ))}
    </Command.Group>
  );
}

/** Tabs, metrics, commands and exports of the open run. */
export function OfRun({ id, text, onDone }: Group & { readonly id: string; readonly text: string }) {
  const go = useGo(onDone);
  const goTo = (tab: string, search: Record<string, string> = {}) =>
    void go({ to: `/runs/$id/${tab}`, params: { id }, search } as never);
  const save = (format: "jsonl" | "chrome") => {
    window.location.assign(urlOf("exportRun", { params: { id }, query: { format } }));
    onDone();
  };
  return (
    <>
      <Command.Group heading="this run">
        {runTabs.map(([tab, word]) => (
          <Entry key={tab} value={`this run ${word}`} onSelect={() => goTo(tab)}>
            {word}
          </Entry>
        ))}
      </Command.Group>
      {text === "" ? null : (
        <>
          <MetricsOfRun id={id} onMetric={(panel) => goTo("charts", { panel })} />
          <Command.Group heading="commands to this run">
            {commandChoices.map((choice) => (
              <Entry
                key={choice.type}
                value={`command ${choice.word} ${choice.type}`}
                icon={choice.icon}
                onSelect={() => goTo("control", { ask: choice.type })}
              >
                {choice.word}… <span className="muted">asks first</span>
              </Entry>
            ))}
          </Command.Group>
          <Acts
            heading="take it along"
            acts={[
              ["report to print", "image", () => goTo("report"), "pdf"],
              ["export everything (JSONL)", "download", () => save("jsonl")],
              ["export the trace (Perfetto)", "download", () => save("chrome"), "chrome"],
              [
                "compare it with others",
                "compare",
                () => void go({ to: "/compare", search: { run: [id] } }),
                "this run",
              ],
            ]}
          />
        </>
      )}
    </>
  );
}

function MetricsOfRun({ id, onMetric }: { readonly id: string; readonly onMetric: (panel: string) => void }) {
  const metrics = useApi("metrics", { params: { id } }, { staleMs: 30_000 });
  return (
    <Command.Group heading="metrics of this run">
      {metrics.data?.metrics.slice(0, 500).map((metric) => {
        const panel = panelId(metric);
        return (
          <Entry key={panel} value={`metric ${metric.phase} ${metric.key}`} onSelect={() => onMetric(panel)}>
            <span className="grow row">
              <Name>{metric.key}</Name> <span className="muted">{metric.phase}</span>
            </span>
            <span className="muted">{formatFloat(metric.last)}</span>
          </Entry>
        );
      })}
    </Command.Group>
  );
}

/** Without an open run a metric leads to the table, with its column and the runs in its order. */
export function RunsMetrics({ onDone }: Group) {
  const go = useGo(onDone);
  const fields = useApi("fields", {}, { staleMs: 60_000 });
  const metrics = fields.data?.fields.filter((field) => field.kind === "metric" && field.field.endsWith(".last")) ?? [];
  return (
    <Command.Group heading="metrics">
      {metrics.slice(0, 500).map(({ field, runs }) => (
        <Entry
          key={field}
          value={`runs by metric ${headingOf(field)} ${field}`}
          onSelect={() => void go({ to: "/runs", search: { columns: [field], sort: [field] } })}
        >
          <span className="clip grow">
            runs by {headingOf(field)} <span className="muted">{field}</span>
          </span>
          <span className="muted">{countOf(runs, "run")}</span>
        </Entry>
      ))}
    </Command.Group>
  );
}

export function OfPage({ onDone, onHelp }: Group & { readonly onHelp: () => void }) {
  const go = useGo(onDone);
  const [other, turn] = useOtherTheme();
  const after = (act: () => void) => () => {
    onDone();
    act();
  };
  return (
    <>
      <Command.Group heading="views">
        {places.map(({ title, to }) => (
          <Entry key={to} value={`view ${title}`} onSelect={() => void go({ to })}>
            {title}
          </Entry>
        ))}
      </Command.Group>
      <Acts
        heading="actions"
        acts={[
          [`${other} theme`, "theme", after(turn)],
          ["copy a link to this page", "copy", after(() => void navigator.clipboard.writeText(window.location.href))],
          ["print this page", "image", after(() => setTimeout(() => window.print(), 100))],
          ["keyboard", "question", after(onHelp), "help keys"],
        ]}
      />
    </>
  );
}
