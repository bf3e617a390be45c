// A number field for the learning rate, with what the job trains with now in it.

import { useEffect, useState } from "react";
import { useRunClock } from "../../clock/run-clock.tsx";
import { useApi } from "../../data/use-api.ts";
import { TextField } from "../../part/field.tsx";
import { formatNumber } from "../../text/format-number.ts";
import { presentRate } from "./present-rate.ts";

/** Gives the payload as JSON text; '' while no number stands in the field. */
export function RateField({ onChange }: { readonly onChange: (payload: string) => void }) {
  const { run } = useRunClock();
  const metrics = useApi("metrics", { params: { id: run.id } });
  const present = presentRate(metrics.data?.metrics ?? [], run.params);
  const [text, setText] = useState<string | null>(null);
  const shown = text ?? (present === null ? "" : String(present));
  const value = shown.trim() === "" ? Number.NaN : Number(shown);
  useEffect(() => onChange(Number.isFinite(value) ? JSON.stringify({ lr: value }) : ""), [value, onChange]);
  return (
    <label className="stack" style={{ gap: 4 }}>
      learning rate
      <TextField
        look={`num ${Number.isFinite(value) ? "" : "invalid"}`}
        type="number"
        step="any"
        value={shown}
        aria-invalid={!Number.isFinite(value)}
        onChange={setText}
      />
      <span className="muted">
        {present === null ? "The job has not reported its rate." : `now ${formatNumber(present)}`}
      </span>
    </label>
  );
}
