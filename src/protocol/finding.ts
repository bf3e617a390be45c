// What `check` says: problems with their place, and a summary at the end.

import type { FaultPlace } from "#model/fault.ts";

export type Severity = "error" | "warning" | "note";

export interface Problem {
  readonly kind: "problem";
  /** An error makes the check fail; a note mentions, once, something that is allowed. */
  readonly severity: Severity;
  readonly protocol: string;
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** Byte offset in the file. */
  readonly offset?: number;
  /** JSON pointer inside the record. */
  readonly pointer?: string;
  readonly code: string;
  readonly message: string;
}

export interface Summary {
  readonly kind: "summary";
  readonly files: number;
  readonly bytes: number;
  /** Records that are valid, by protocol and type. */
  readonly records: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly errors: number;
  readonly warnings: number;
  /** Problems that were counted but not reported, because their file had too many. */
  readonly withheld: number;
}

export type Finding = Problem | Summary;

/** `file:line:column: error: message [code]`, as compilers write it, so that editors can jump there. */
export function formatProblem(problem: Problem): string {
  const { file, line, column, offset, severity, message, code } = problem;
  const place = line !== undefined ? `:${line}:${column ?? 1}` : offset !== undefined ? `:@${offset}` : "";
  return `${file}${place}: ${severity}: ${message} [${code}]`;
}

export function formatSummary(summary: Summary): string {
  const { files, records, errors, warnings, withheld } = summary;
  const lines = Object.entries(records).map(([protocol, types]) => {
    const counts = Object.entries(types)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([type, count]) => `${count} ${type}`);
    return `${protocol}: ${counts.join(", ")}`;
  });
  const hidden = withheld === 0 ? "" : `, ${withheld} of them not shown`;
  lines.push(`${count(files, "file")} checked, ${count(errors, "error")}, ${count(warnings, "warning")}${hidden}`);
  return lines.join("\n");
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

/** Counts for the summary, and withholds problems beyond the limit for a file. */
export class Tally {
  private files = 0;
  private bytes = 0;
  private errors = 0;
  private warnings = 0;
  private withheld = 0;
  private ofFile = 0;
  private readonly records: Record<string, Record<string, number>> = {};
  private readonly problemsPerFileMax: number;

  constructor(problemsPerFileMax: number) {
    this.problemsPerFileMax = problemsPerFileMax;
  }

  startFile(sizeBytes: number): void {
    this.files++;
    this.bytes += sizeBytes;
    this.ofFile = 0;
  }

  addRecord(protocol: string, type: string): void {
    this.records[protocol] ??= {};
    const types = this.records[protocol];
    types[type] = (types[type] ?? 0) + 1;
  }

  /** False when the problem is counted but must not be reported. */
  admit({ severity }: Problem): boolean {
    if (severity === "error") this.errors++;
    if (severity === "warning") this.warnings++;
    if (severity !== "note" && ++this.ofFile > this.problemsPerFileMax) {
      this.withheld++;
      return false;
    }
    return true;
  }

  toSummary(): Summary {
    const { files, bytes, records, errors, warnings, withheld } = this;
    return { kind: "summary", files, bytes, records, errors, warnings, withheld };
  }
}

export function toProblem(
  severity: Severity,
  protocol: string,
  file: string,
  { code, detail, place }: { readonly code: string; readonly detail: string; readonly place: FaultPlace },
): Problem {
  const { file: _, ...where } = place;
  return { kind: "problem", severity, protocol, file, ...where, code, message: detail };
}
