// The key of a blob: `traces/<workspace>/<run>/<span>/<snapshot>.<ext>`. Ids come from clients and may be any text,
// so each becomes one safe segment of a path: it cannot climb out of its folder, name a hidden file, or be too long.

import { createHash } from "node:crypto";

const segmentBytesMax = 120;

/** Ids of letters, digits, `_`, `-` and inner dots stay as they are, so ordinary paths read as documented. */
function toSegment(id: string): string {
  const bytes = Buffer.from(id.toWellFormed());
  let encoded = "";
  for (const byte of bytes) {
    const char = String.fromCharCode(byte);
    encoded += /[A-Za-z0-9_.-]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  // A leading dot would be a hidden file, and `.` and `..` are not names at all; an empty id is not a segment.
  if (encoded === "") return "%";
  if (encoded.startsWith(".")) encoded = `%2E${encoded.slice(1)}`;
  if (encoded.length <= segmentBytesMax) return encoded;
  // `%~` begins no encoded byte, so a shortened id is never equal to a whole one.
  return `${encoded.slice(0, 40)}%~${createHash("sha256").update(bytes).digest("hex")}`;
}

export interface TensorPlace {
  readonly workspace: string;
  readonly run: string;
  readonly span: string;
  /** `weights` or `gradients` for the SDK's shared files, else the snapshot's id. */
  readonly snapshot: string;
  /** Without the dot. */
  readonly ext: string;
}

export function tensorKey({ workspace, run, span, snapshot, ext }: TensorPlace): string {
  return `${runPrefix(workspace, run)}${toSegment(span)}/${toSegment(`${snapshot}.${ext}`)}`;
}

/** The key of a blob whose run is not known yet. */
export function waitingKey({ workspace, span, snapshot, ext }: Omit<TensorPlace, "run">): string {
  return `waiting/${toSegment(workspace)}/${toSegment(span)}/${toSegment(`${snapshot}.${ext}`)}`;
}

export function artifactKey(workspace: string, run: string, name: string): string {
  return `${artifactPrefix(workspace, run)}${toSegment(name)}`;
}

/** The prefix that is deleted with a run. */
export function runPrefix(workspace: string, run: string): string {
  return `traces/${toSegment(workspace)}/${toSegment(run)}/`;
}

export function artifactPrefix(workspace: string, run: string): string {
  return `artifacts/${toSegment(workspace)}/${toSegment(run)}/`;
}
