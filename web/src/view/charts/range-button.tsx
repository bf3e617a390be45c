// The range of a panel's y axis, set by hand: two numbers, either of which may be left to the data.

import { useState } from "react";
import type { YBounds } from "../../chart/scale.ts";
import { Button, IconButton } from "../../part/button.tsx";
import { Form, TextField } from "../../part/field.tsx";
import { Popover } from "../../part/popover.tsx";
import { isRange, parseBound } from "./panel-layout.ts";

interface RangeButtonProps {
  readonly name: string;
  /** Null while the data decides. */
  readonly bounds: YBounds | null;
  readonly onChange: (bounds: YBounds | null) => void;
}

export function RangeButton({ name, bounds, onChange }: RangeButtonProps) {
  const label = `Vertical range of ${name}`;
  return (
    <Popover label={label} trigger={<IconButton icon="range" label={label} aria-pressed={bounds !== null} />}>
      <RangeForm key={JSON.stringify(bounds)} bounds={bounds} onChange={onChange} />
    </Popover>
  );
}

function RangeForm({ bounds, onChange }: Omit<RangeButtonProps, "name">) {
  const [min, setMin] = useState(bounds?.min?.toString() ?? "");
  const [max, setMax] = useState(bounds?.max?.toString() ?? "");
  const wanted = { min: parseBound(min), max: parseBound(max) };
  return (
    <Form className="stack range-form" onSubmit={() => isRange(wanted) && onChange(wanted)}>
      {(
        [
          ["to", max, setMax],
          ["from", min, setMin],
        ] as const
      ).map(([word, value, set]) => (
        <label key={word} className="row">
          <span className="muted range-word">{word}</span>
          <TextField look="grow" inputMode="decimal" placeholder="as the data" value={value} onChange={set} />
        </label>
      ))}
      <div className="row">
        <Button disabled={bounds === null} onClick={() => onChange(null)}>
          all values
        </Button>
        <span className="grow" />
        <Button type="submit" look="primary" disabled={!isRange(wanted)}>
          set
        </Button>
      </div>
    </Form>
  );
}
