// How curves are drawn: said in the address, chosen with the same controls wherever there are curves.

import { type ReactNode, useMemo } from "react";
import { useSetSearch, useUrlChoice } from "../../app/url-choice.ts";
import type { PlotChoices } from "../../chart/plot-model.ts";
import type { YScale } from "../../chart/scale.ts";
import { Button } from "../../part/button.tsx";
import { Choice, TextField } from "../../part/field.tsx";

const scales = ["linear", "log", "symlog"] as const;
export const onOff = ["on", "off"] as const;
export type OnOff = (typeof onOff)[number];

export function usePlotChoices() {
  const [scale, setScale] = useUrlChoice<YScale>("scale", "scale", "linear", scales);
  const [robust, setRobust] = useUrlChoice<OnOff>("robust", "robust", "off", onOff);
  const [smoothing, setSmoothing] = useUrlChoice<string>("smooth", "smoothing", "0");
  const choices = useMemo<PlotChoices>(
    () => ({ scale, robust: robust === "on", smoothing: Math.min(0.99, Number(smoothing) || 0) }),
    [scale, robust, smoothing],
  );
  return { choices, scale, setScale, robust, setRobust, smoothing, setSmoothing };
}

interface PlotControlsProps<A extends string> {
  readonly view: ReturnType<typeof usePlotChoices> & { readonly axis: A; readonly setAxis: (axis: A) => void };
  readonly axes: readonly A[];
  /** Which metrics are looked for. */
  readonly find: string;
  /** Stand before the smoothing. */
  readonly children?: ReactNode;
}

export function PlotControls<A extends string>({ view, axes, find, children }: PlotControlsProps<A>) {
  const setSearch = useSetSearch();
  return (
    <>
      <TextField
        data-search
        label="Find metrics"
        title="words, or a regular expression"
        value={find}
        onChange={(text) => setSearch({ find: text || undefined })}
        style={{ flex: "1 1 150px", maxWidth: 200 }}
      />
      <Choice label="Horizontal axis" options={axes} value={view.axis} onChange={view.setAxis} />
      <Choice label="Vertical scale" options={scales} value={view.scale} onChange={view.setScale} />
      <OnOffButton value={view.robust} onChange={view.setRobust} title="leave outliers outside the axis, and say so">
        robust range
      </OnOffButton>
      {children}
      <label className="row">
        <span className="muted">smooth</span>
        <input
          type="range"
          min="0"
          max="0.99"
          step="0.01"
          value={view.smoothing}
          onChange={(event) => view.setSmoothing(event.target.value)}
          style={{ width: 110 }}
        />
        <span className="num" style={{ width: 28 }}>
          {Number(view.smoothing).toFixed(2)}
        </span>
      </label>
    </>
  );
}

interface OnOffButtonProps {
  readonly value: OnOff;
  readonly onChange: (value: OnOff) => void;
  readonly title?: string;
  readonly children: ReactNode;
}

export function OnOffButton({ value, onChange, title, children }: OnOffButtonProps) {
  return (
    <Button aria-pressed={value === "on"} title={title} onClick={() => onChange(value === "on" ? "off" : "on")}>
      {children}
    </Button>
  );
}
