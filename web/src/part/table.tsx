// Rows of one kind, a column each for what is said of them.

import type { ReactNode } from "react";
import { formatCount } from "../text/format-number.ts";

export interface Column<Row> {
  /** Its heading; a table of which no column has one shows none. */
  readonly head?: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  /** Words of the style sheet: num, muted. */
  readonly look?: string;
  /** Whether the rows are in its order, where they may be. */
  readonly sorted?: boolean;
  readonly width?: string;
}

export function Table<Row>({
  rows,
  keyOf,
  columns,
  look = "",
  label,
  caption,
  none,
}: {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  readonly columns: readonly Column<Row>[];
  readonly look?: string;
  /** What it is called, where nothing beside it says that. */
  readonly label?: string;
  readonly caption?: string;
  /** Said instead where there are no rows. */
  readonly none?: string;
}) {
  if (rows.length === 0 && none !== undefined) return <p className="panel-body muted">{none}</p>;
  return (
    <table className={`table ${look}`} aria-label={label}>
      {caption === undefined ? null : <caption className="muted">{caption}</caption>}
      {columns.every(({ head }) => head === undefined) ? null : (
        <thead>
          <tr>
            {columns.map((column, at) => (
              <th
                // biome-ignore lint/suspicious/noArrayIndexKey: the columns of a table stay where they are.
                key={at}
                className={column.look === "num" ? "num" : ""}
                style={{ width: column.width }}
                aria-sort={column.sorted === undefined ? undefined : column.sorted ? "descending" : "none"}
              >
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map((column, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: see above.
              <td key={at} className={column.look}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A count that should be zero. */
export function Alarming({ count, look = "status-failed" }: { readonly count: number; readonly look?: string }) {
  return <span className={count > 0 ? look : ""}>{formatCount(count)}</span>;
}
