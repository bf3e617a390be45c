// Files of frames back to back, or with text between them, as in captured stdout.

import { rowFlags } from "#model/row-flags.ts";
import { type Detection, type FileHead, type FileKind, sureness } from "#protocol/file-kind.ts";
import { type Problem, type Tally, toProblem } from "#protocol/finding.ts";
import { type StreamChunk, XtrackStream } from "#wire/xtrack/stream.ts";
import { xtrackFacts } from "./facts.ts";
import { FrameReader } from "./read-files.ts";

const frameFile: FileKind = {
  name: "xtrack_frames",
  read: (file, options) => new FrameReader(file, options, false),
  check: (file, _options, tally) => checkFrames(file.path, file.chunks(), false, tally),
};

const mixedFile: FileKind = {
  name: "xtrack_mixed",
  read: (file, options) => new FrameReader(file, options, true),
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

/** Whether there is a plausible length, which is not text, and an object after it. */
function isFrameAt(bytes: Uint8Array, at: number): boolean {
  if (at + 5 > bytes.length || bytes[at + 4] !== 0x7b) return false;
  const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0);
  return length > 1 && length <= plausibleFrameBytes;
}

const protocol = xtrackFacts.name;

/** `text`: there may be text between the frames. */
async function* checkFrames(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
  text: boolean,
  tally: Tally,
): AsyncGenerator<Problem> {
  const stream = new XtrackStream({ text });
  for await (const chunk of chunks) yield* checkSettled(file, stream.push(chunk), tally);
  yield* checkSettled(file, stream.finish(), tally);
}

function* checkSettled(file: string, settled: StreamChunk | null, tally: Tally): Generator<Problem> {
  if (settled === null) return;
  const { columns, faults } = settled.decoded;
  for (let event = 0; event < columns.length; event++) tally.addRecord(protocol, columns.type.at(event));
  for (let keys = settled.keys.length; keys > 0; keys--) tally.addRecord(protocol, "auth");
  for (const { fault } of faults) yield toProblem("error", protocol, file, fault);
  const { rows, event } = columns.events;
  for (let row = 0; row < event.length; row++) {
    if ((rows.flags.at(row) & rowFlags.unknown_type) === 0) continue;
    const type = JSON.stringify(columns.type.at(event.at(row)));
    const detail = `event type ${type} is not of this protocol version; it would be kept as it is`;
    const place = { offset: columns.offset.at(event.at(row)), pointer: "/t" };
    yield toProblem("warning", protocol, file, { code: "unknown_type", detail, place });
  }
}
