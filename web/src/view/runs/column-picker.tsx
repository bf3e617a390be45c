// Which columns, in which order, and which stay in place.

import { useState } from "react";
import type { FieldInfo } from "#api/contract/run.ts";
import { Button, IconButton } from "../../part/button.tsx";
import { TextField } from "../../part/field.tsx";
import { Icon } from "../../part/icon.tsx";
import { Popover } from "../../part/popover.tsx";
import { builtIn, type ColumnChoice, hideColumn, moveColumn, pinColumn } from "./grid-columns.ts";
import { headingOf } from "./runs-search.ts";

interface ColumnPickerProps {
  readonly fields: readonly FieldInfo[];
  readonly choice: ColumnChoice;
  /** Nobody has changed anything yet. */
  readonly usual: boolean;
  readonly onChange: (choice: ColumnChoice) => void;
  readonly onReset: () => void;
}

export function ColumnPicker({ fields, choice, usual, onChange, onReset }: ColumnPickerProps) {
  const [asked, setAsked] = useState("");
  const { columns, pinned } = choice;
  const hiddenBuiltIn = [...builtIn].filter((field) => field !== "name" && !columns.includes(field));
  const others = fields
    .filter((field) => !columns.includes(field.field) && !builtIn.has(field.field))
    .filter((field) => field.field.toLowerCase().includes(asked.toLowerCase()))
    .slice(0, 200);
  const add = (field: string) => onChange({ ...choice, columns: [...columns, field] });
  return (
    <Popover
      label="Columns"
      className="column-picker"
      trigger={
        <Button>
          columns <Icon name="down" size={12} />
        </Button>
      }
    >
      <TextField label="Find a column" placeholder="find a param, tag or metric" value={asked} onChange={setAsked} />
      <p className="menu-label row">
        shown
        <span className="grow" />
        <Button look="quiet small" disabled={usual} onClick={onReset}>
          usual columns
        </Button>
      </p>
      <ul>
        {columns.map((field, i) => (
          <li key={field} className="menu-item">
            <label className="row grow clip" title={field}>
              <input type="checkbox" checked onChange={() => onChange(hideColumn(choice, field))} />
              <span className="clip">{headingOf(field)}</span>
            </label>
            <IconButton
              icon="pin"
              label={`Pin ${field}`}
              aria-pressed={pinned.includes(field)}
              onClick={() => onChange(pinColumn(choice, field))}
            />
            <IconButton
              icon="up"
              label={`Move ${field} left`}
              disabled={i === 0}
              onClick={() => onChange(moveColumn(choice, field, -1))}
            />
            <IconButton
              icon="down"
              label={`Move ${field} right`}
              disabled={i === columns.length - 1}
              onClick={() => onChange(moveColumn(choice, field, 1))}
            />
          </li>
        ))}
      </ul>
      <p className="menu-label">more</p>
      <ul>
        {hiddenBuiltIn.map((field) => (
          <li key={field}>
            <label className="menu-item">
              <input type="checkbox" checked={false} onChange={() => add(field)} />
              <span className="clip grow">{field}</span>
            </label>
          </li>
        ))}
        {others.map((field) => (
          <li key={field.field}>
            <label className="menu-item" title={field.field}>
              <input type="checkbox" checked={false} onChange={() => add(field.field)} />
              <span className="clip grow">{headingOf(field.field)}</span>
              <span className="muted">{field.kind}</span>
            </label>
          </li>
        ))}
      </ul>
    </Popover>
  );
}
