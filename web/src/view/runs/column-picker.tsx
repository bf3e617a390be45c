// Which columns, in which order, and which stay in place.

import { useState } from "react";
import type { FieldInfo } from "#api/contract/run.ts";
import { Icon } from "../../part/icon.tsx";
import { Popover } from "../../part/popover.tsx";
import { headingOf } from "./runs-search.ts";

export function ColumnPicker({
  fields,
  columns,
  pinned,
  onChange,
}: {
  readonly fields: readonly FieldInfo[];
  readonly columns: readonly string[];
  readonly pinned: readonly string[];
  readonly onChange: (columns: string[], pinned: string[]) => void;
}) {
  const [asked, setAsked] = useState("");
  const others = fields
    .filter((field) => !columns.includes(field.field) && field.field.toLowerCase().includes(asked.toLowerCase()))
    .filter((field) => !["name", "status", "start", "duration"].includes(field.field))
    .slice(0, 200);
  const move = (field: string, by: number) => {
    const next = columns.filter((each) => each !== field);
    next.splice(Math.max(0, columns.indexOf(field) + by), 0, field);
    onChange(next, [...pinned]);
  };
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
      <p className="menu-label">shown</p>
      <ul>
        {columns.map((field, i) => (
          <li key={field} className="menu-item">
            <label className="row grow clip" title={field}>
              <input
                type="checkbox"
                checked
                onChange={() =>
                  onChange(
                    columns.filter((each) => each !== field),
                    pinned.filter((each) => each !== field),
                  )
                }
              />
              <span className="clip">{headingOf(field)}</span>
            </label>
            <button
              type="button"
              className="button quiet small icon"
              aria-label={`Pin ${field}`}
              aria-pressed={pinned.includes(field)}
              onClick={() =>
                onChange(
                  [...columns],
                  pinned.includes(field) ? pinned.filter((each) => each !== field) : [...pinned, field],
                )
              }
            >
              <Icon name="pin" size={12} />
            </button>
            <button
              type="button"
              className="button quiet small icon"
              disabled={i === 0}
              aria-label={`Move ${field} left`}
              onClick={() => move(field, -1)}
            >
              <Icon name="up" size={12} />
            </button>
            <button
              type="button"
              className="button quiet small icon"
              disabled={i === columns.length - 1}
              aria-label={`Move ${field} right`}
              onClick={() => move(field, 1)}
            >
              <Icon name="down" size={12} />
            </button>
          </li>
        ))}
      </ul>
      <p className="menu-label">more</p>
      <ul>
        {others.map((field) => (
          <li key={field.field}>
            <label className="menu-item" title={field.field}>
              <input
                type="checkbox"
                checked={false}
                onChange={() => onChange([...columns, field.field], [...pinned])}
              />
              <span className="clip grow">{headingOf(field.field)}</span>
              <span className="muted">{field.kind}</span>
            </label>
          </li>
        ))}
      </ul>
    </Popover>
  );
}
