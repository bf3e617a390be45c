// Rows of one kind, a column each for what is said of them.

import type { ReactNode } from "react";
import { formatCount } from "../text/format-number.ts";

export interface Column<Row> {
  /** Its heading; a table of which no column has one shows none. */
  readonly head?: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  readonly look?: "num" | "muted";
  readonly width?: string;
}

export function Table<Row>({
  rows,
  keyOf,
  columns,
  look = "",
  caption,
}: {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  readonly columns: readonly Column<Row>[];
  readonly look?: string;
  readonly caption?: string;
}) {
  return (
    <table className={`table ${look}`}>
      {caption === undefined ? null : <caption className="muted">{caption}</caption>}
      {columns.every(({ head }) => head === undefined) ? null : (
        <thead>
          <tr>
            {columns.map((column, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the columns of a table stay where they are.
              <th key={at} className={column.look === "num" ? "num" : ""} style={{ width: column.width }}>
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
