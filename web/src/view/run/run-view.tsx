// A run: its head, its tabs, the window bar, and the tab below. Everything below shares one clock.

import { Link, Outlet, useParams, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import type { Run } from "#api/contract/run.ts";
import { hasTrait } from "#protocol/facts.ts";
import { MomentStrip } from "../../clock/moment-strip.tsx";
import { RunClockProvider } from "../../clock/run-clock.tsx";
import { clockNames } from "../../clock/use-address.ts";
import { WindowBar } from "../../clock/window-bar.tsx";
import { Refusal } from "../../data/client.ts";
import { useApi } from "../../data/use-api.ts";
import { useFollowRun } from "../../data/use-live.ts";
import { Answer, Empty } from "../../part/notice.tsx";
import { RunHead } from "./run-head.tsx";
import "./run.css";
import { type RunTab, runTabs } from "./tabs.ts";

/** Tabs whose content moves with the clock. */
const clocked: ReadonlySet<string> = new Set(["charts", "timeline", "tensors", "logs", "events", "pipeline"]);

/** Tabs with something to point at. */
const pointed: ReadonlySet<string> = new Set(["charts", "timeline", "tensors", "logs"]);

/** Whether a moment of this run is more than what the panel under the pointer shows. */
function joinsPanels({ counts }: Run): boolean {
  return [counts.metrics, counts.spans + counts.nodes, counts.logs].filter((count) => count > 0).length > 1;
}

export function RunView() {
  const { id } = useParams({ from: "/runs/$id" });
  const run = useApi("run", { params: { id } });
  useFollowRun(id);
  if (run.data === undefined && run.error instanceof Refusal && run.error.status === 404) {
    return (
      <Empty title="There is no such run.">
        <p>
          It was deleted, or never reached this server: <code>{id}</code>
        </p>
        <Link to="/runs" className="button">
          all runs
        </Link>
      </Empty>
    );
  }
  return <Answer of={run}>{(data) => <OpenRun run={data} />}</Answer>;
}

/** The engine that lays out graphs is large: only a run with nodes fetches it ahead of the visit. */
function useGraphsAhead(wanted: boolean): void {
  useEffect(() => {
    if (!wanted) return;
    // Where this fails, the view itself says so when it is opened.
    import("../pipeline/layout.ts").then((layout) => layout.fetchLayoutEngine()).catch(() => undefined);
  }, [wanted]);
}

function OpenRun({ run }: { readonly run: Run }) {
  useGraphsAhead(run.counts.nodes > 0);
  const tab = useRouterState({ select: (state) => state.location.pathname.split("/")[3] ?? "" });
  return (
    <RunClockProvider run={run}>
      <RunHead run={run} />
      <Tabs run={run} tab={tab} />
      {clocked.has(tab) ? <WindowBar /> : null}
      <Outlet />
      {pointed.has(tab) && joinsPanels(run) ? <MomentStrip /> : null}
    </RunClockProvider>
  );
}

function Tabs({ run, tab }: { readonly run: Run; readonly tab: string }) {
  const nav = useRef<HTMLElement>(null);
  // On a narrow page the tabs scroll; the current one must be among those seen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is another current link.
  useEffect(() => {
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [tab]);
  return (
    <nav ref={nav} className="tabs no-print" aria-label="Parts of the run">
      {runTabs.map(([path, word]) => {
        const count = countOf(run, path);
        return (
          <Link
            key={path}
            to={path === "" ? "/runs/$id" : `/runs/$id/${path}`}
            params={{ id: run.id }}
            search={(before: Record<string, unknown>) => pickClock(before) as never}
            className={`tab ${tab === path ? "current" : ""} ${count === 0 ? "hollow" : ""}`}
            aria-current={tab === path ? "page" : undefined}
          >
            {word}
          </Link>
        );
      })}
    </nav>
  );
}

/** What all tabs share: the window and the pinned moment. */
function pickClock(search: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(clockNames.flatMap((name) => (name in search ? [[name, search[name]]] : [])));
}

/** How much there is behind a tab; null when the tab is never empty. */
function countOf(run: Run, tab: RunTab): number | null {
  const { counts } = run;
  switch (tab) {
    case "charts":
      return counts.metrics;
    case "timeline":
      return counts.spans + counts.nodes;
    case "tensors":
      return counts.snapshots;
    case "pipeline":
      return counts.nodes + (run.protocols.some((name) => hasTrait(name, "pipelines")) ? 1 : 0);
    case "logs":
      return counts.logs;
    case "files":
      return counts.artifacts + counts.checkpoints;
    case "post-mortem":
      return run.status === "running" || run.status === "completed" ? 0 : null;
    default:
      return null;
  }
}
