// The window as a flame graph: spans of one name under the same path as one box, as wide as their time together.

import { useState } from "react";
import { useTheme } from "../../app/theme.ts";
import { inkOn } from "../../chart/colour.ts";
import { spanColour } from "../../chart/span-colours.ts";
import { useRunApi, useRunClock } from "../../clock/run-clock.tsx";
import { Button } from "../../part/button.tsx";
import { Answer, Empty } from "../../part/notice.tsx";
import { formatCount, formatPercent } from "../../text/format-number.ts";
import { formatDuration } from "../../text/format-time.ts";
import { type FlameBox, toFlameBoxes } from "./flame.ts";

const rowPx = 20;

export function FlameView({ wanted }: { readonly wanted: ((name: string) => boolean) | null }) {
  const { query } = useRunClock();
  const flame = useRunApi("spanFlame", { query }, { keep: true });
  // A node's number; another window may have other nodes.
  const [focus, setFocus] = useState<number | null>(null);
  return (
    <Answer of={flame}>
      {(data) => {
        const boxes = toFlameBoxes(data, focus !== null && focus < data.nodes.name.length ? focus : null);
        if (boxes.length === 0) return <Empty title="No span ran in this window." />;
        return <Flame boxes={boxes} focused={focus !== null} wanted={wanted} onFocus={setFocus} />;
      }}
    </Answer>
  );
}

interface FlameProps {
  readonly boxes: readonly FlameBox[];
  readonly focused: boolean;
  readonly wanted: ((name: string) => boolean) | null;
  readonly onFocus: (node: number | null) => void;
}

function Flame({ boxes, focused, wanted, onFocus }: FlameProps) {
  const whole = boxes[0]?.wallNs ?? 1;
  const [at, setAt] = useState<FlameBox | null>(null);
  const shown = at ?? boxes[0];
  const depth = boxes.reduce((most, box) => Math.max(most, box.depth), 0);
  return (
    <section className="flame grow" aria-label="Flame graph of the window">
      <p className="row flame-words" aria-live="polite">
        {shown === undefined ? null : (
          <>
            <strong>{shown.name}</strong> {formatDuration(shown.wallNs)} in {formatCount(shown.count)}{" "}
            {shown.count === 1 ? "span" : "spans"}, {formatDuration(shown.selfNs)} of it in none of its children
            {shown.gpuNs === null ? "" : `, GPU ${formatDuration(shown.gpuNs)}`}
            {focused ? `, ${formatPercent(shown.wallNs / whole)} of what is shown` : ""}
          </>
        )}
        {focused ? (
          <Button look="small" onClick={() => onFocus(null)}>
            show all
          </Button>
        ) : null}
      </p>
      <div className="flame-boxes" style={{ height: (depth + 1) * rowPx }}>
        {boxes.map((box) => (
          <FlameButton
            key={box.node}
            box={box}
            faded={wanted !== null && !wanted(box.name)}
            onPoint={setAt}
            onFocus={onFocus}
          />
        ))}
      </div>
    </section>
  );
}

interface FlameButtonProps {
  readonly box: FlameBox;
  readonly faded: boolean;
  readonly onPoint: (box: FlameBox | null) => void;
  readonly onFocus: (node: number) => void;
}

function FlameButton({ box, faded, onPoint, onFocus }: FlameButtonProps) {
  const { run } = useRunClock();
  const colour = spanColour(run.id, box.name, useTheme());
  return (
    <button
      type="button"
      className="one-line flame-box"
      aria-label={`${box.name}, ${formatDuration(box.wallNs)}`}
      style={{
        left: `${box.x * 100}%`,
        width: `calc(${box.width * 100}% - 1px)`,
        top: box.depth * rowPx,
        height: rowPx - 2,
        background: colour,
        color: inkOn(colour),
        opacity: faded ? 0.25 : 1,
      }}
      onPointerEnter={() => onPoint(box)}
      onPointerLeave={() => onPoint(null)}
      onFocus={() => onPoint(box)}
      onBlur={() => onPoint(null)}
      onClick={() => onFocus(box.node)}
    >
      {box.width > 0.03 ? `${box.name} ${formatDuration(box.wallNs)}` : ""}
    </button>
  );
}
