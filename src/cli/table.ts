// Tables that fit the terminal: columns as wide as their widest cell, and when that is too much, the widest column gives.

import { largestOf } from "#base/extremes.ts";

export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
  /** The least width this column may be cut to. */
  readonly minWidth?: number;
}

const gap = 2;
const ellipsis = "…";

// East Asian wide characters and emoji take two cells of a terminal.
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}]|[\u{20000}-\u{3fffd}]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal obeys these, so user text must not contain them
const control = /[\u0000-\u001f\u007f-\u009f]/g;

/** User text made harmless for a terminal: no escape sequence, no line break. */
export function toPlainText(text: string): string {
  return text.replace(control, " ");
}

export function measure(text: string): number {
  let width = 0;
  for (const character of text) width += wide.test(character) ? 2 : 1;
  return width;
}

export function cut(text: string, width: number): string {
  if (measure(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const character of text) {
    const next = used + measure(character);
    if (next > width - 1) break;
    kept += character;
    used = next;
  }
  return kept + ellipsis;
}

export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string {
  const cells = rows.map((row) => row.map(toPlainText));
  const widths = columns.map(({ title }, at) =>
    largestOf([measure(title), ...cells.map((row) => measure(row[at] ?? ""))]),
  );
  shrink(widths, columns, width);
  const line = (row: readonly string[]) =>
    columns
      .map(({ align }, at) => pad(cut(row[at] ?? "", widths[at] ?? 0), widths[at] ?? 0, align ?? "left"))
      .join(" ".repeat(gap))
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...cells.map(line)].join("\n");
}

/** Takes from the widest column until the line fits, or every column is at its least. */
function shrink(widths: number[], columns: readonly Column[], width: number): void {
  const total = () => widths.reduce((sum, one) => sum + one, 0) + gap * (widths.length - 1);
  while (total() > width) {
    let widest = -1;
    for (const [at, one] of widths.entries()) {
      const least = columns[at]?.minWidth ?? 6;
      if (one > least && (widest < 0 || one > (widths[widest] ?? 0))) widest = at;
    }
    if (widest < 0) return;
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
}

function pad(text: string, width: number, align: "left" | "right"): string {
  const space = " ".repeat(Math.max(0, width - measure(text)));
  return align === "left" ? text + space : space + text;
}
