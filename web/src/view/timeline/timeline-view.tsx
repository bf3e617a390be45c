// The timeline: minimap, flame chart, details of one span, and where the time of the window went.

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { spanFlags } from "#api/contract/span-flags.ts";
import { useTheme } from "../../app/theme.ts";
import { isTyping } from "../../app/typing.ts";
import { assignColours } from "../../chart/colour.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { panWindow, type TimeWindow, zoomWindow } from "../../clock/window.ts";
import { CommandLine, Empty, Loading, Problem } from "../../part/notice.tsx";
import { formatCount } from "../../text/format-number.ts";
import { formatDuration } from "../../text/format-time.ts";
import { nextMatch } from "./boxes.ts";
import { Minimap } from "./minimap.tsx";
import { SpanDetails } from "./span-details.tsx";
import { SummaryTable } from "./summary-table.tsx";
import "./timeline.css";
import { type PickedBox, TimelineCanvas } from "./timeline-canvas.tsx";
import { useTimeline } from "./use-timeline.ts";
import { useTimelineView } from "./use-view.ts";

export function TimelineView() {
  const { limits, run } = useRunClock();
  const data = useTimeline(limits, 1200);
  if (data.loading) return <Loading rows={8} />;
  if (data.error !== null && data.layers.length === 0) {
    return (
      <div style={{ padding: 16 }}>
        <Problem error={data.error} retry={data.refetch} />
      </div>
    );
  }
  if (data.extent === null) {
    return (
      <Empty title="No spans yet.">
        <p>Spans come from the Cirron SDK, node executions from Semantiva. With Cirron:</p>
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
  const { setWindow } = useRunClock();
  const theme = useTheme();
  const [view, move] = useTimelineView(extent);
  const [viewPx, setViewPx] = useState(1200);
  const { layers, base } = useTimeline(view, viewPx);
  const [search, setSearch] = useState("");
  const [hovered, setHovered] = useState<PickedBox | null>(null);
  const [selected, setSelected] = useState<{ id: string; from: number; to: number } | null>(null);
  const wanted = useMemo(() => {
    const asked = search.trim().toLowerCase();
    return asked === "" ? null : (name: string) => name.toLowerCase().includes(asked);
  }, [search]);
  const names = useMemo(() => [...new Set(layers.flatMap((layer) => layer.answer.names))], [layers]);
  const colours = useMemo(() => assignColours(names, theme), [names, theme]);
  const finest = layers.at(-1);

  const select = useCallback((picked: PickedBox | null) => {
    if (picked === null) return setSelected(null);
    const { boxes, box } = picked;
    setSelected({ id: boxes.answer.spans.id[box] ?? "", from: boxes.start[box] ?? 0, to: boxes.end[box] ?? 0 });
  }, []);
  const fit = useCallback(
    (picked: PickedBox | null) => {
      if (picked === null) return move(extent);
      const from = picked.boxes.start[picked.box] ?? 0;
      const to = picked.boxes.end[picked.box] ?? from;
      move(airy(from, to));
    },
    [extent, move],
  );
  const jump = (way: 1 | -1) => {
    if (finest === undefined || wanted === null) return;
    const places = new Set(finest.answer.names.flatMap((name, i) => (wanted(name) ? [i] : [])));
    const found = nextMatch(finest, places, selected?.from ?? view.from, way);
    if (found >= 0) {
      select({ boxes: finest, box: found });
      const length = view.to - view.from;
      const middle = ((finest.start[found] ?? 0) + (finest.end[found] ?? 0)) / 2;
      if (middle < view.from || middle > view.to) move({ from: middle - length / 2, to: middle + length / 2 });
    }
  };
  const onKey = (key: string): boolean => {
    const length = view.to - view.from;
    const middle = (view.from + view.to) / 2;
    const acts: Record<string, () => void> = {
      w: () => move(zoomWindow(view, middle, 0.7)),
      s: () => move(zoomWindow(view, middle, 1 / 0.7)),
      a: () => move(panWindow(view, -length * 0.2)),
      d: () => move(panWindow(view, length * 0.2)),
      f: () => move(selected === null ? extent : airy(selected.from, selected.to)),
      m: () => selected !== null && setWindow({ from: selected.from, to: selected.to }),
      n: () => jump(1),
    };
    const act = key === "N" ? () => jump(-1) : acts[key.toLowerCase()];
    act?.();
    return act !== undefined;
  };
  useKeys(onKey);
  return (
    <div className="timeline">
      <div className="bar timeline-bar no-print">
        <input
          data-search
          className="field"
          placeholder="highlight by name"
          aria-label="Highlight spans by name"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") jump(event.shiftKey ? -1 : 1);
          }}
          style={{ width: 180 }}
        />
        <span className="grow clip" aria-live="off">
          {hovered === null ? (
            <span className="muted">wheel zooms, drag moves, double-click fits; W A S D, F, M</span>
          ) : (
            <HoverLine picked={hovered} />
          )}
        </span>
        <span className="muted">
          {finest === undefined
            ? ""
            : `${formatCount(finest.answer.total)} spans, ${formatCount(finest.start.length)} drawn`}
        </span>
        <button type="button" className="button small" onClick={() => move(extent)}>
          fit all
        </button>
      </div>
      <Minimap base={base} extent={extent} view={view} onMove={move} />
      <div className="timeline-middle">
        <TimelineCanvas
          layers={layers}
          view={view}
          extent={extent}
          wanted={wanted}
          selectedId={selected?.id ?? ""}
          onMove={move}
          onWidth={setViewPx}
          onHover={setHovered}
          onSelect={select}
          onFit={fit}
        />
        {selected === null || selected.id === "" ? null : (
          <SpanDetails
            id={selected.id}
            onSelect={(id) => setSelected({ ...selected, id })}
            onClose={() => setSelected(null)}
          />
        )}
      </div>
      <div className="timeline-summary table-scroll">
        <SummaryTable colours={colours} onName={setSearch} />
      </div>
    </div>
  );
}

/** Keys of the whole view: no need to click into the canvas first. Typing and open dialogs keep theirs. */
function useKeys(onKey: (key: string) => boolean): void {
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]") !== null) return;
      if (latest.current(event.key)) event.preventDefault();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

function airy(from: number, to: number): TimeWindow {
  const air = Math.max(100, (to - from) * 0.05);
  return { from: from - air, to: to + air };
}

function HoverLine({ picked }: { readonly picked: PickedBox }) {
  const { spans, names } = picked.boxes.answer;
  const { box } = picked;
  const wall = (picked.boxes.end[box] ?? 0) - (picked.boxes.start[box] ?? 0);
  const merged = spans.merged[box] ?? 1;
  const gpu = spans.gpu_ns[box];
  const flags = spans.flags[box] ?? 0;
  return (
    <>
      <strong>{names[spans.name[box] ?? 0]}</strong> {spans.index[box] ?? ""}{" "}
      {merged > 1 ? `and others, ${merged} spans over ` : ""}
      {formatDuration(wall)}
      {gpu === null || gpu === undefined ? "" : `, GPU ${formatDuration(gpu)}`}
      {(flags & spanFlags.placeholder) !== 0 ? ", never arrived: known from its children" : ""}
      {(flags & spanFlags.unfinished) !== 0 ? ", no end yet" : ""}
      {(flags & spanFlags.error) !== 0 ? ", ended in error" : ""}
    </>
  );
}
