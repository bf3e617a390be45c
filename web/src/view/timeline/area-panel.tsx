// A piece of the timeline, cut out by hand: some lanes for some time, and what ran there by name.

import { useTheme } from "../../app/theme.ts";
import { spanColour } from "../../chart/span-colours.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { formatWindow, type TimeWindow } from "../../clock/window.ts";
import { useApi } from "../../data/use-api.ts";
import { Icon } from "../../part/icon.tsx";
import { Answer } from "../../part/notice.tsx";
import { countOf, formatCount } from "../../text/format-number.ts";
import { formatDuration, formatElapsed } from "../../text/format-time.ts";
import { sumByName } from "./flame.ts";

export interface Area extends TimeWindow {
  /** Ids of lanes. */
  readonly lanes: readonly number[];
  /** False while it is still being drawn. */
  readonly settled: boolean;
}

export function AreaPanel({ area, onClose }: { readonly area: Area; readonly onClose: () => void }) {
  const { run, startNs, setWindow } = useRunClock();
  const theme = useTheme();
  const { from, to } = formatWindow(area, startNs);
  const flame = useApi(
    "spanFlame",
    { params: { id: run.id }, query: { from_ns: from, to_ns: to, lane: [...area.lanes] } },
    { keep: true },
  );
  const lanes = area.lanes.length === 1 ? "one lane" : `${area.lanes.length} lanes`;
  return (
    <aside className="span-details" aria-label="Selected area">
      <header className="row">
        <h2 className="clip grow">
          {formatDuration(area.to - area.from)}, {lanes}
        </h2>
        <button type="button" className="button quiet small icon" aria-label="Close" onClick={onClose}>
          <Icon name="cross" size={12} />
        </button>
      </header>
      <p className="muted">
        {formatElapsed(area.from, 1e6)} – {formatElapsed(area.to, 1e6)}
      </p>
      <button type="button" className="button small" onClick={() => setWindow({ from: area.from, to: area.to })}>
        make it the window (M)
      </button>
      <Answer of={flame} rows={4}>
        {(data) => (
          <table className="table">
            <caption className="muted">{countOf(data.total, "span")}</caption>
            <thead>
              <tr>
                <th>name</th>
                <th className="num">count</th>
                <th className="num">wall</th>
                <th className="num">self</th>
              </tr>
            </thead>
            <tbody>
              {sumByName(data).map((sum) => (
                <tr key={sum.name}>
                  <td>
                    <i className="swatch" style={{ background: spanColour(run.id, sum.name, theme) }} /> {sum.name}
                  </td>
                  <td className="num">{formatCount(sum.count)}</td>
                  <td className="num">{formatDuration(sum.wallNs)}</td>
                  <td className="num">{formatDuration(sum.selfNs)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Answer>
    </aside>
  );
}
