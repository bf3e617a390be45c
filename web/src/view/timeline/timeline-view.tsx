// The timeline: minimap, flame chart or flame graph, details of one span or area, and where the time of the window went.

import { useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { useTheme } from "../../app/theme.ts";
import { useSetSearch } from "../../app/url-choice.ts";
import { spanColours } from "../../chart/span-colours.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { panWindow, type TimeWindow, zoomWindow } from "../../clock/window.ts";
import { isTyping, useKeys } from "../../part/keys.ts";
import { CommandLine, Empty, Loading, PageProblem } from "../../part/notice.tsx";
import { Splitter, useSplit } from "../../part/splitter.tsx";
import { type Area, AreaPanel } from "./area-panel.tsx";
import { FlameView } from "./flame-view.tsx";
import { Minimap } from "./minimap.tsx";
import { SpanDetails } from "./span-details.tsx";
import { SummaryTable } from "./summary-table.tsx";
import { TimelineBar } from "./timeline-bar.tsx";
import "./timeline.css";
import { type PickedBox, TimelineCanvas } from "./timeline-canvas.tsx";
import { type SelectedSpan, useMatches } from "./use-matches.ts";
import { useTimeline } from "./use-timeline.ts";
import { useTimelineView } from "./use-view.ts";

export type TimelineShow = "lanes" | "flame";

export function TimelineView() {
  const { limits, run } = useRunClock();
  const data = useTimeline(limits, 1200);
  if (data.loading) return <Loading rows={8} />;
  if (data.error !== null && data.layers.length === 0) return <PageProblem error={data.error} retry={data.refetch} />;
  if (data.extent === null) {
    return (
      <Empty title="No spans yet.">
        <p>Spans come from the Cirron SDK and OpenTelemetry, node executions from Semantiva. With Cirron:</p>
        <CommandLine
          text={`CIRRON_API_ENDPOINT=${window.location.origin} CIRRON_INGEST_PATH=/v1/runs/${run.id}/traces python train.py`}
        />
      </Empty>
    );
  }
  return <OpenTimeline extent={data.extent} />;
}

function OpenTimeline({ extent: found }: { readonly extent: TimeWindow }) {
  // The extent grows while the run does; a little air keeps the last span off the edge.
  const extent = useMemo(
    () => ({ from: found.from, to: found.to + (found.to - found.from) * 0.005 }),
    [found.from, found.to],
  );
  const { run, setWindow, pinCursor } = useRunClock();
  const theme = useTheme();
  const { find, show, change } = useTimelineSearch();
  const [view, move] = useTimelineView(extent);
  const [viewPx, setViewPx] = useState(1200);
  const { layers, base } = useTimeline(view, viewPx);
  const [hovered, setHovered] = useState<PickedBox | null>(null);
  const [selected, setSelected] = useState<SelectedSpan | null>(null);
  const [area, setArea] = useState<Area | null>(null);
  const [overflows, setOverflows] = useState(false);
  const [splitPx, setSplitPx] = useSplit("timeline-height");
  const matches = useMatches({ find, extent, view, selected, onFound: setSelected, onMove: move });
  const names = useMemo(() => [...new Set(layers.flatMap((layer) => layer.answer.names))], [layers]);
  const colours = useMemo(() => spanColours(run.id, names, theme), [run.id, names, theme]);
  const select = useCallback(
    (picked: PickedBox | null, t: number) => {
      setSelected(picked === null ? null : spanOf(picked));
      if (picked !== null) pinCursor({ t, from: "timeline" });
    },
    [pinCursor],
  );
  const fit = useCallback(
    (picked: PickedBox | null) => {
      const span = picked === null ? null : spanOf(picked);
      move(span === null ? extent : airy(span));
    },
    [extent, move],
  );
  const leave = area !== null ? () => setArea(null) : find !== "" ? () => change({ find: undefined }) : null;
  useActs({
    ...movesOf(view, move),
    f: () => move(selected === null ? extent : airy(selected)),
    m: () => {
      const marked = area ?? selected;
      if (marked !== null) setWindow({ from: marked.from, to: marked.to });
    },
    n: () => matches.go(1),
    shift_n: () => matches.go(-1),
    ...(leave === null ? {} : { escape: leave }),
  });
  return (
    <div className="column fill">
      <TimelineBar
        {...{ find, show, change, hovered, matches, overflows }}
        finest={layers.at(-1)}
        onFitAll={() => move(extent)}
      />
      <Minimap base={base} colours={colours} extent={extent} view={view} onMove={move} />
      <div className="timeline-middle" style={splitPx === null ? undefined : { flex: "none", height: splitPx }}>
        {show === "flame" ? (
          <FlameView wanted={matches.wanted} />
        ) : (
          <TimelineCanvas
            {...{ layers, view, colours, area, hovered }}
            wanted={matches.wanted}
            selectedId={selected?.id ?? ""}
            onMove={move}
            onWidth={setViewPx}
            onHover={setHovered}
            onSelect={select}
            onFit={fit}
            onArea={setArea}
            onOverflow={setOverflows}
          />
        )}
        {area?.settled === true ? (
          <AreaPanel area={area} onClose={() => setArea(null)} />
        ) : selected === null || selected.id === "" ? null : (
          <SpanDetails
            id={selected.id}
            onSelect={(id) => setSelected({ ...selected, id })}
            onClose={() => setSelected(null)}
          />
        )}
      </div>
      <Splitter label="Height of the timeline" onChange={setSplitPx} />
      <div className="timeline-summary table-scroll">
        <SummaryTable onName={(name) => change({ find: name })} />
      </div>
    </div>
  );
}

function useTimelineSearch() {
  const search = useSearch({ strict: false }) as { find?: string; show?: string };
  const change = useSetSearch();
  const show: TimelineShow = search.show === "flame" ? "flame" : "lanes";
  return { find: search.find ?? "", show, change };
}

function movesOf(view: TimeWindow, move: (view: TimeWindow) => void): Record<string, () => void> {
  const length = view.to - view.from;
  const middle = (view.from + view.to) / 2;
  return {
    w: () => move(zoomWindow(view, middle, 0.7)),
    s: () => move(zoomWindow(view, middle, 1 / 0.7)),
    a: () => move(panWindow(view, -length * 0.2)),
    d: () => move(panWindow(view, length * 0.2)),
  };
}

/** Keys of the whole view: no need to click into the canvas first. Typing and open dialogs keep theirs. */
function useActs(acts: Readonly<Record<string, () => void>>): void {
  useKeys((event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]") !== null) return;
    const key = event.key.toLowerCase();
    const act = acts[event.shiftKey ? `shift_${key}` : key];
    if (act === undefined) return;
    event.preventDefault();
    // Esc means this view first; the run's clock listens after it.
    event.stopImmediatePropagation();
    act();
  });
}

function spanOf({ boxes, box }: PickedBox): SelectedSpan {
  return { id: boxes.answer.spans.id[box] ?? "", from: boxes.start[box] ?? 0, to: boxes.end[box] ?? 0 };
}

function airy({ from, to }: TimeWindow): TimeWindow {
  const air = Math.max(100, (to - from) * 0.05);
  return { from: from - air, to: to + air };
}
