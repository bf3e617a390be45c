// The bar above the timeline: search with the number of matches, lanes or flame graph, and what the pointer is on.

import { spanFlags } from "#api/contract/span-flags.ts";
import type { useSetSearch } from "../../app/url-choice.ts";
import { Button } from "../../part/button.tsx";
import { Choice, TextField } from "../../part/field.tsx";
import { countOf, formatCount } from "../../text/format-number.ts";
import { formatDuration } from "../../text/format-time.ts";
import { type Boxes, mergedText } from "./boxes.ts";
import type { PickedBox } from "./timeline-canvas.tsx";
import type { TimelineShow } from "./timeline-view.tsx";
import type { useMatches } from "./use-matches.ts";

export interface TimelineBarProps {
  readonly find: string;
  readonly show: TimelineShow;
  readonly change: ReturnType<typeof useSetSearch>;
  readonly hovered: PickedBox | null;
  readonly matches: ReturnType<typeof useMatches>;
  readonly overflows: boolean;
  readonly finest: Boxes | undefined;
  readonly onFitAll: () => void;
}

export function TimelineBar(props: TimelineBarProps) {
  const { find, show, change, hovered, matches, finest } = props;
  const wheel = props.overflows ? "wheel scrolls lanes, Ctrl wheel zooms" : "wheel zooms";
  const moves = `${wheel}, drag moves, Shift drag adds up an area, double-click fits; W A S D, F, M, n`;
  const hint = show === "flame" ? "a click shows a part alone; drag above to choose the window" : moves;
  return (
    <div className="row bar timeline-bar no-print">
      <TextField
        data-search
        label="Highlight spans by name"
        placeholder="highlight by name"
        value={find}
        onChange={(text) => change({ find: text || undefined })}
        onKeyDown={(event) => {
          if (event.key === "Enter") matches.go(event.shiftKey ? -1 : 1);
          // Outside the box, n and N go on; Esc once more ends the search.
          if (event.key === "Escape") event.currentTarget.blur();
        }}
        style={{ width: 180 }}
      />
      {matches.total === null ? null : (
        <span className="muted" aria-live="polite">
          {formatCount(matches.total)} {matches.total === 1 ? "match" : "matches"}
        </span>
      )}
      <Choice
        label="Show"
        options={[
          ["lanes", "lanes"],
          ["flame", "flame graph"],
        ]}
        value={show}
        onChange={(next: TimelineShow) => change({ show: next === "lanes" ? undefined : next })}
      />
      <span className="grow clip wide-only" aria-live="off">
        {hovered === null ? <span className="muted">{hint}</span> : <HoverLine picked={hovered} />}
      </span>
      <span className="muted">
        {finest === undefined
          ? ""
          : `${countOf(finest.answer.total, "span")}, ${formatCount(finest.start.length)} drawn`}
      </span>
      <Button look="small" onClick={props.onFitAll}>
        fit all
      </Button>
    </div>
  );
}

function HoverLine({ picked }: { readonly picked: PickedBox }) {
  const { spans, names } = picked.boxes.answer;
  const { box } = picked;
  const wall = (picked.boxes.end[box] ?? 0) - (picked.boxes.start[box] ?? 0);
  const merged = spans.merged[box] ?? 1;
  const gpu = spans.gpu_ns[box];
  const flags = spans.flags[box] ?? 0;
  const name = names[spans.name[box] ?? 0] ?? "";
  return (
    <>
      <strong>
        {merged > 1 ? mergedText(name, merged, spans.names[box] ?? 1) : `${name} ${spans.index[box] ?? ""}`}
      </strong>{" "}
      {merged > 1 ? "over " : ""}
      {formatDuration(wall)}
      {merged > 1 && (spans.names[box] ?? 1) > 1 ? `, mostly ${name}` : ""}
      {gpu === null || gpu === undefined ? "" : `, GPU ${formatDuration(gpu)}`}
      {(flags & spanFlags.placeholder) !== 0 ? ", never arrived: known from its children" : ""}
      {(flags & spanFlags.unfinished) !== 0 ? ", no end yet" : ""}
      {(flags & spanFlags.error) !== 0 ? ", ended in error" : ""}
    </>
  );
}
