// The table as it is shown, for a sheet.

import type { RunSummary } from "#api/contract/run.ts";
import { builtIn } from "./grid-columns.ts";

export function toRunsCsv(runs: readonly RunSummary[], columns: readonly string[]): string {
  const fields = columns.filter((column) => !builtIn.has(column));
  const head = ["id", "name", "status", "experiment", "tags", "start_ns", "end_ns", "duration_ns", ...fields];
  const rows = runs.map((run) => [
    run.id,
    run.name,
    run.status,
    run.experiment,
    run.tags.join(" "),
    run.start_ns ?? "",
    run.end_ns ?? "",
    run.duration_ns ?? "",
    ...fields.map((field) => run.cells[field]?.text ?? ""),
  ]);
  return `${[head, ...rows].map((row) => row.map(toCell).join(",")).join("\n")}\n`;
}

/** Text that a sheet would take for a formula is marked as text. */
function toCell(text: string): string {
  const plain = /^[=+@-]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
