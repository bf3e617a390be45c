// Weights and gradients over time: ridgelines, statistics, and values from blobs.

import { useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { Snapshot, TensorAnswer, TensorInfo } from "#api/contract/snapshot.ts";
import { useTheme } from "../../app/theme.ts";
import { useSetSearch } from "../../app/url-choice.ts";
import { paletteColour } from "../../chart/colour.ts";
import { Plot } from "../../chart/plot.tsx";
import { plainChoices } from "../../chart/plot-model.ts";
import { useRunApi, useRunClock } from "../../clock/run-clock.tsx";
import { useApi } from "../../data/use-api.ts";
import { Choice, Select } from "../../part/field.tsx";
import { Name } from "../../part/name.tsx";
import { Answer, CommandLine, Empty } from "../../part/notice.tsx";
import { countOf, formatCount, formatFloat, formatSi, toNumber } from "../../text/format-number.ts";
import { toMs, toOffsetNs } from "../../text/format-time.ts";
import { useChartEvents } from "../charts/use-chart-events.ts";
import { labelOf, Ridgeline } from "./ridgeline.tsx";
import { TensorList } from "./tensor-list.tsx";
import "./tensors.css";
import { largestOf } from "#base/extremes.ts";
import { finiteOrNull, type PlotSeries, toPointSeries } from "../../chart/plot-data.ts";

export function TensorsView() {
  const tensors = useRunApi("snapshots", {});
  return (
    <Answer of={tensors}>
      {(data) =>
        data.tensors.length === 0 ? (
          <Empty title="No tensor snapshots yet.">
            <p>The Cirron SDK sends them at the end of each epoch:</p>
            <CommandLine text='ci.profile(model, snapshots="stats")' />
          </Empty>
        ) : (
          <Chosen tensors={data.tensors} />
        )
      }
    </Answer>
  );
}

function Chosen({ tensors }: { readonly tensors: readonly TensorInfo[] }) {
  const search = useSearch({ strict: false }) as { tensor?: string };
  const setSearch = useSetSearch();
  const first = [...tensors].sort((a, b) => (b.change ?? -1) - (a.change ?? -1))[0];
  const chosen = tensors.find((each) => each.tensor === search.tensor) ?? first;
  if (chosen === undefined) return null;
  return (
    <div className="beside tensors fill">
      <TensorList tensors={tensors} chosen={chosen.tensor} onChoose={(tensor) => setSearch({ tensor })} />
      <div className="scroll">
        <div className="page">
          <div className={chosen.pair === null ? "" : "tensor-pair"}>
            {sideBySide(chosen).map((tensor) => (
              <TensorPanel key={tensor} tensor={tensor} />
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

/** The weight at the left, its gradient beside it. */
function sideBySide(chosen: TensorInfo): string[] {
  if (chosen.pair === null) return [chosen.tensor];
  return chosen.kind === "gradient" ? [chosen.pair, chosen.tensor] : [chosen.tensor, chosen.pair];
}

function TensorPanel({ tensor }: { readonly tensor: string }) {
  const { run } = useRunClock();
  const answer = useApi("tensor", { params: { id: run.id, tensor } });
  return (
    <section className="panel" aria-label={tensor}>
      <Answer of={answer}>{(data) => <TensorBody name={tensor} data={data} />}</Answer>
    </section>
  );
}

/** What is known of all snapshots, and what the latest says of values that are not finite. */
function aboutText({ shape, dtype, total, rows }: TensorAnswer): string {
  const spoilt = rows.at(-1)?.nonfinite_count ?? 0;
  const parts = [shape.join("×") || "scalar", dtype, countOf(total, "snapshot")];
  return [...parts, ...(spoilt === 0 ? [] : [`${formatCount(spoilt)} values are NaN or ±Inf`])].join(" · ");
}

function TensorBody({ name, data }: { readonly name: string; readonly data: TensorAnswer }) {
  const { rows } = data;
  const about = aboutText(data);
  const clock = useRunClock();
  const theme = useTheme();
  const events = useChartEvents();
  const [mode, setMode] = useState<"offset" | "overlay">("offset");
  const [values, setValues] = useState<string | null>(null);
  const { spread, norm } = useMemo(() => toStatsSeries(rows, clock.startNs), [rows, clock.startNs]);
  const colours = useMemo(() => [paletteColour(15, theme), paletteColour(0, theme)], [theme]);
  const stored = rows.filter((row) => row.blob_stored);
  const pick = (snapshot: Snapshot) => {
    const at = toOffsetNs(snapshot.ts_ns, clock.startNs);
    const before = rows[rows.indexOf(snapshot) - 1];
    const from = before === undefined ? 0 : toOffsetNs(before.ts_ns, clock.startNs);
    clock.setWindow({ from, to: at + 1 });
  };
  const plot = {
    axis: "relative",
    choices: plainChoices,
    theme,
    height: 120,
    startMs: toMs(clock.startNs),
    window: clock.window,
    onBrush: clock.brush,
    onPin: clock.pinCursor,
    xRange: clock.window === null ? null : ([clock.window.from, clock.window.to] as const),
    events,
  } as const;
  return (
    <>
      <header className="row panel-head tensor-head">
        <h2 aria-label={name}>
          <Name>{name}</Name>
        </h2>
        <span className="muted clip grow" title={about}>
          {about}
        </span>
        <Choice label="Ridgeline" options={["offset", "overlay"]} value={mode} onChange={setMode} />
      </header>
      <div className="panel-body stack">
        <Ridgeline
          snapshots={rows}
          overlay={mode === "overlay"}
          startNs={clock.startNs}
          label={`Histograms of ${name}, ${countOf(rows.length, "snapshot")}`}
          window={clock.window}
          onPick={pick}
        />
        <h3>mean, ± std, min–max</h3>
        <Plot {...plot} id={`${name} spread`} series={spread} colours={colours} label={`Mean and spread of ${name}`} />
        <h3>norm</h3>
        <Plot {...plot} id={`${name} norm`} series={norm} colours={colours.slice(1)} label={`Norm of ${name}`} />
        {stored.length === 0 ? null : (
          <>
            <label className="row">
              <h3>values</h3>
              <Select
                value={values ?? ""}
                options={[["", "choose a snapshot"], ...stored.map((row) => [row.id, labelOf(row) || row.id] as const)]}
                onChange={(id) => setValues(id === "" ? null : id)}
              />
            </label>
            {values === null ? null : <ValuesPanel tensor={name} snapshot={values} />}
          </>
        )}
      </div>
    </>
  );
}

/** A tensor's statistics over time, to be drawn: mean within min–max, mean within ± std, and the norm alone. */
function toStatsSeries(rows: readonly Snapshot[], startNs: string): { spread: PlotSeries[]; norm: PlotSeries[] } {
  const t = rows.map((row) => toOffsetNs(row.ts_ns, startNs));
  const column = (name: "mean" | "std" | "min" | "max" | "norm") => rows.map((row) => toNumber(row[name]));
  const mean = column("mean");
  const std = column("std");
  const beside = (sign: 1 | -1) => mean.map((value, i) => (value === null ? null : value + sign * (std[i] ?? 0)));
  const within = (key: string, min: (number | null)[], max: (number | null)[]): PlotSeries => ({
    ...toPointSeries(key, t, mean),
    min: min.map(finiteOrNull),
    max: max.map(finiteOrNull),
    banded: true,
  });
  return {
    spread: [within("min–max", column("min"), column("max")), within("± std", beside(-1), beside(1))],
    norm: [toPointSeries("norm", t, column("norm"))],
  };
}

/** The values themselves, out of a stored blob: a finer histogram and the first of them. */
function ValuesPanel({ tensor, snapshot }: { readonly tensor: string; readonly snapshot: string }) {
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
