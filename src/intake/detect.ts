// What a file is, from its name and its first bytes. The content decides where it can; names only help where the content
// says nothing, since users rename files and a crash can leave any file torn at either end.

import { isTemporaryName, parseSpoolName } from "#wire/cirron/spool-name.ts";

export type SourceKind =
  /** A Cirron batch, as the spool has one file each. */
  | "cirron_batch"
  /** Captured output with Cirron's sentinel lines in it. */
  | "cirron_events"
  /** Tensors that belong to a spool's snapshots. */
  | "cirron_blob"
  /** A Semantiva trace stream. */
  | "semantiva_lines"
  /** XTrack frames back to back. */
  | "xtrack_frames"
  /** XTrack frames with text between them, as stdout captures them. */
  | "xtrack_mixed"
  /** Our own export. */
  | "export_lines"
  /** Still being written; whole under another name soon. */
  | "temporary"
  | "empty"
  | "unknown";

/** How many bytes of a file are enough to tell. */
export const detectBytes: number = 64 * 1024;

const plausibleFrameBytes = 64 * 1024 * 1024;
const latin1 = new TextDecoder("latin1");

/** `head`: the first `detectBytes` of the file, all of it when it is shorter. */
export function detectFile(name: string, head: Uint8Array): SourceKind {
  if (isTemporaryName(name)) return "temporary";
  if (name.endsWith(".safetensors")) return "cirron_blob";
  if (parseSpoolName(name) !== null) return "cirron_batch";
  if (head.length > 0 && isFrameAt(head, 0)) return "xtrack_frames";
  const byContent = head.length === 0 ? "empty" : detectText(latin1.decode(head), head);
  if (byContent !== "empty" && byContent !== "unknown") return byContent;
  if (name.endsWith(".jsonl")) return "semantiva_lines";
  if (name.endsWith(".bin")) return "xtrack_frames";
  return byContent;
}

/** `text` has one character a byte. */
function detectText(text: string, head: Uint8Array): SourceKind {
  if (text.startsWith('{"tributary":1,')) return "export_lines";
  if (text.includes('"__cirron_event__"')) return "cirron_events";
  for (let at = text.indexOf('{"v":'); at >= 0; at = text.indexOf('{"v":', at + 1)) {
    if (at >= 4 && isFrameAt(head, at - 4)) return "xtrack_mixed";
  }
  const first = text.replace(/^\xef\xbb\xbf/, "").trimStart();
  if (!first.startsWith("{")) return "unknown";
  if (/"record_type"\s*:/.test(text)) return "semantiva_lines";
  return /"batch_id"\s*:/.test(text) ? "cirron_batch" : "unknown";
}

/** A length that is no text, and an object after it. */
function isFrameAt(bytes: Uint8Array, at: number): boolean {
  if (at + 5 > bytes.length || bytes[at + 4] !== 0x7b) return false;
  const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0);
  return length > 1 && length <= plausibleFrameBytes;
}
