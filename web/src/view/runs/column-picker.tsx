// Which columns, in which order, and which stay in place.

import { useState } from "react";
import type { FieldInfo } from "#api/contract/run.ts";
import { Icon } from "../../part/icon.tsx";
import { Popover } from "../../part/popover.tsx";
import { builtIn, type ColumnChoice, hideColumn, moveColumn, pinColumn } from "./grid-columns.ts";
import { headingOf } from "./runs-search.ts";

export function ColumnPicker({
  fields,
  choice,
  usual,
  onChange,
  onReset,
}: {
  readonly fields: readonly FieldInfo[];
  readonly choice: ColumnChoice;
  /** Nobody has changed anything yet. */
  readonly usual: boolean;
  readonly onChange: (choice: ColumnChoice) => void;
  readonly onReset: () => void;
}) {
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
        <button type="button" className="button">
          columns <Icon name="down" size={12} />
        </button>
      }
    >
      <input
        className="field"
        placeholder="find a param, tag or metric"
        aria-label="Find a column"
        value={asked}
        onChange={(event) => setAsked(event.target.value)}
      />
      <p className="menu-label row">
        shown
        <span className="grow" />
        <button type="button" className="button quiet small" disabled={usual} onClick={onReset}>
          usual columns
        </button>
      </p>
      <ul>
        {columns.map((field, i) => (
          <li key={field} className="menu-item">
            <label className="row grow clip" title={field}>
              <input type="checkbox" checked onChange={() => onChange(hideColumn(choice, field))} />
              <span className="clip">{headingOf(field)}</span>
            </label>
            <button
              type="button"
              className="button quiet small icon"
              aria-label={`Pin ${field}`}
              aria-pressed={pinned.includes(field)}
              onClick={() => onChange(pinColumn(choice, field))}
            >
              <Icon name="pin" size={12} />
            </button>
            <button
              type="button"
              className="button quiet small icon"
              disabled={i === 0}
              aria-label={`Move ${field} left`}
              onClick={() => onChange(moveColumn(choice, field, -1))}
            >
              <Icon name="up" size={12} />
            </button>
            <button
              type="button"
              className="button quiet small icon"
              disabled={i === columns.length - 1}
              aria-label={`Move ${field} right`}
              onClick={() => onChange(moveColumn(choice, field, 1))}
            >
              <Icon name="down" size={12} />
            </button>
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
