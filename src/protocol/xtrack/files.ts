// Frames back to back, or with text between them as stdout captures them.

import { type Detection, type FileHead, type FileKind, sureness } from "#protocol/file-kind.ts";
import { checkFrames } from "./check.ts";
import { FrameReader } from "./read-files.ts";

const frameFile: FileKind = {
  name: "xtrack_frames",
  read: (file, options) => new FrameReader(file, options),
  check: (file, _options, tally) => checkFrames(file.path, file.chunks(), false, tally),
};

const mixedFile: FileKind = {
  name: "xtrack_mixed",
  read: (file, options) => new FrameReader(file, options),
  check: (file, _options, tally) => checkFrames(file.path, file.chunks(), true, tally),
};

const plausibleFrameBytes = 64 * 1024 * 1024;

export function detectXtrack({ name, bytes, text }: FileHead): Detection | null {
  if (isFrameAt(bytes, 0)) return { kind: frameFile, sure: sureness.frame };
  for (let at = text.indexOf('{"v":'); at >= 0; at = text.indexOf('{"v":', at + 1)) {
    if (at >= 4 && isFrameAt(bytes, at - 4)) return { kind: mixedFile, sure: sureness.mark };
  }
  return name.endsWith(".bin") ? { kind: frameFile, sure: sureness.ending } : null;
}

/** A length that is not a text, and an object after it. */
function isFrameAt(bytes: Uint8Array, at: number): boolean {
  if (at + 5 > bytes.length || bytes[at + 4] !== 0x7b) return false;
  const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0);
  return length > 1 && length <= plausibleFrameBytes;
}
