// The values themselves, out of a stored blob: a finer histogram and the first of them.

import { largestOf } from "#base/extremes.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { useApi } from "../../data/use-api.ts";
import { Answer } from "../../part/notice.tsx";
import { formatCount, formatFloat, formatSi } from "../../text/format-number.ts";

export function ValuesPanel({ tensor, snapshot }: { readonly tensor: string; readonly snapshot: string }) {
  const { run } = useRunClock();
  const values = useApi("tensorValues", { params: { id: run.id, tensor }, query: { snapshot, limit: 256, bins: 96 } });
  return (
    <Answer of={values} rows={3}>
      {(data) => {
        const histogram = data.histogram;
        const highest = largestOf([1, ...(histogram?.counts ?? [])]);
        return (
          <div className="stack">
            <p className="muted">
              {formatCount(data.total)} values, {data.dtype}, {data.shape.join("×")}
              {histogram !== null && histogram.nan + histogram.infinite > 0 ? (
                <span className="status-warn">
                  {" "}
                  {histogram.nan} NaN, {histogram.infinite} ±Inf
                </span>
              ) : null}
            </p>
            {histogram === null ? null : (
              <figure>
                <svg className="values" viewBox="0 0 480 96" role="img" aria-label="Histogram of all values">
                  {histogram.counts.map((count, i) => {
                    const w = 480 / histogram.counts.length;
                    const h = (count / highest) * 92;
                    return (
                      <rect key={histogram.bins[i]} x={i * w} y={96 - h} width={Math.max(0.5, w - 0.5)} height={h} />
                    );
                  })}
                </svg>
                <figcaption className="row muted">
                  {formatSi(histogram.bins[0] ?? 0)}
                  <span className="grow" />
                  {formatSi(histogram.bins.at(-1) ?? 0)}
                </figcaption>
              </figure>
            )}
            <code className="muted values-text">
              {data.values.map((value) => (typeof value === "string" ? value : formatFloat(value, 5))).join("  ")}
              {data.total > data.values.length ? " …" : ""}
            </code>
          </div>
        );
      }}
    </Answer>
  );
}
