// Steps and values of a moment: which steps it holds, and where the least and the greatest value stand.

import type { PlotSeries } from "../chart/plot-data.ts";
import { Button } from "../part/button.tsx";
import { Name } from "../part/name.tsx";
import { formatFloat, formatNumber } from "../text/format-number.ts";
import { formatElapsed } from "../text/format-time.ts";
import { useRunClock } from "./run-clock.tsx";
import type { MomentMetric } from "./use-moment-metric.ts";

export function MomentSteps({ metric }: { readonly metric: MomentMetric | null }) {
  const series = metric?.series ?? null;
  if (metric === null || series === null) return null;
  const [first = 0, last = 0] = [series.x[0], series.xLast.at(-1)];
  const nan = series.nan.reduce((sum, count) => sum + count, 0);
  return (
    <>
      {metric.axis === "time" ? null : (
        <>
          <dt>step</dt>
          <dd>{first === last ? formatNumber(first) : `${formatNumber(first)}–${formatNumber(last)}`}</dd>
        </>
      )}
      <dt title={metric.of}>
        <Name>{metric.key}</Name>
      </dt>
      <dd>{nan > 0 ? `NaN${nan > 1 ? ` ×${nan}` : ""}` : formatFloat(series.last.at(-1))}</dd>
    </>
  );
}

/** The extremes of a moment that holds several points; each leads to its own step. */
export function MomentExtremes({ metric }: { readonly metric: MomentMetric | null }) {
  const series = metric?.series ?? null;
  if (metric === null || series === null || series.points < 2) return <span />;
  return (
    <div className="moment-extremes">
      <Extreme of="max" metric={metric} series={series} />
      <Extreme of="min" metric={metric} series={series} />
    </div>
  );
}

interface ExtremeProps {
  readonly of: "min" | "max";
  readonly metric: MomentMetric;
  readonly series: PlotSeries;
}

function Extreme({ of, metric, series }: ExtremeProps) {
  const { setPin, pin } = useRunClock();
  const values = series[of];
  const row = extremeRow(values, of === "max" ? 1 : -1);
  if (row < 0) return null;
  const x = series.x[row] ?? 0;
  const place = metric.axis === "time" ? formatElapsed(x, 1e6) : `step ${formatNumber(x)}`;
  const to = series.tLast[row] ?? 0;
  const from = Math.min(series.tLast[row - 1] ?? pin?.from ?? to - 1, to - 1);
  return (
    <Button look="quiet small" title="pin it" onClick={() => setPin({ from, to, of: metric.of })}>
      <span className="muted">{of}</span> {formatFloat(values[row])} <span className="muted">at {place}</span>
    </Button>
  );
}

function extremeRow(values: readonly (number | null)[], way: 1 | -1): number {
  let best = -1;
  values.forEach((value, row) => {
    const before = values[best];
    if (value !== null && (before === null || before === undefined || (value - before) * way > 0)) best = row;
  });
  return best;
}
