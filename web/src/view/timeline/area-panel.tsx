// A piece of the timeline, cut out by hand: some lanes for some time, and what ran there by name.

import { useTheme } from "../../app/theme.ts";
import { spanColour } from "../../chart/span-colours.ts";
import { useRunApi, useRunClock } from "../../clock/run-clock.tsx";
import { formatWindow, type TimeWindow } from "../../clock/window.ts";
import { Button } from "../../part/button.tsx";
import { Answer } from "../../part/notice.tsx";
import { Details } from "../../part/panel.tsx";
import { Table } from "../../part/table.tsx";
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
  const flame = useRunApi("spanFlame", { query: { from_ns: from, to_ns: to, lane: [...area.lanes] } }, { keep: true });
  const lanes = area.lanes.length === 1 ? "one lane" : `${area.lanes.length} lanes`;
  return (
    <Details label="Selected area" title={`${formatDuration(area.to - area.from)}, ${lanes}`} onClose={onClose}>
      <p className="muted">
        {formatElapsed(area.from, 1e6)} – {formatElapsed(area.to, 1e6)}
      </p>
      <Button look="small" onClick={() => setWindow({ from: area.from, to: area.to })}>
        make it the window (M)
      </Button>
      <Answer of={flame} rows={4}>
        {(data) => (
          <Table
            caption={countOf(data.total, "span")}
            rows={sumByName(data)}
            keyOf={(sum) => sum.name}
            columns={[
              {
                head: "name",
                cell: ({ name }) => (
                  <>
                    <i className="swatch" style={{ background: spanColour(run.id, name, theme) }} /> {name}
                  </>
                ),
              },
              { head: "count", cell: (sum) => formatCount(sum.count), look: "num" },
              { head: "wall", cell: (sum) => formatDuration(sum.wallNs), look: "num" },
              { head: "self", cell: (sum) => formatDuration(sum.selfNs), look: "num" },
            ]}
          />
        )}
      </Answer>
    </Details>
  );
}
