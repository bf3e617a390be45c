// Frames over HTTP. A body is a stream of its own: it is framed before it goes into the journal. Bytes between frames become
// faults, unless the body comes from a file in which they are text.

import { frameInputs, toDecodedFrames, type XtrackFramesInput } from "#intake/xtrack/frames-input.ts";
import { itemsMax, pieceBytesMax, toRest } from "#protocol/body-pieces.ts";
import { takeRecords } from "#protocol/lines-reply.ts";
import type { HttpDoor, IngestRequest, Protocol, Submission } from "#protocol/protocol.ts";
import { findLooseAcks } from "#wire/xtrack/loose-acks.ts";
import { prefixBytes, readLength } from "#wire/xtrack/resync.ts";
import { XtrackStream } from "#wire/xtrack/stream.ts";
import { xtrackFacts } from "./facts.ts";
import { detectXtrack } from "./files.ts";
import { exportedEvent, xtrackRecords } from "./stored-records.ts";

const xtrackDoors: readonly HttpDoor[] = [
  {
    route: "xtrack",
    take: ({ arrival, body, query }) => takeRecords(cutFrames(arrival, body, query), "offset"),
  },
];

const pieceBytesMin = 16 * 1024;
const pieceMs = 4;

function* cutFrames(
  arrival: IngestRequest["arrival"],
  body: Uint8Array,
  { file = "", offset: start = 0, current_run: firstRun, text }: IngestRequest["query"],
): Generator<Submission | null> {
  const stream = new XtrackStream({
    file,
    offset: start,
    currentRun: firstRun ?? arrival.runOverride,
    text: text === "1",
  });
  let items = 0;
  let size = pieceBytesMin;
  for (let from = 0, to = 0; to < body.length; from = to) {
    if (items >= itemsMax) {
      yield toRest(arrival, "xtrack", body, from, "the frames after them");
      return;
    }
    // A frame that is complete in the body is pushed in one piece.
    const whole = stream.pendingBytes === 0 ? frameSizeAt(body, from) : 0;
    to = whole > size && from + whole <= body.length ? from + whole : Math.min(from + size, body.length);
    const startedMs = performance.now();
    const settled = yield* withPauses(stream.pushInSteps(body.subarray(from, to)));
    // Broken frames take many times as long as good ones, so pieces get smaller.
    const isFast = performance.now() - startedMs < pieceMs;
    size = isFast ? Math.min(size * 2, pieceBytesMax) : Math.max(size / 2, pieceBytesMin);
    yield null;
    for (const chunk of [settled, to === body.length ? stream.finish() : null]) {
      if (chunk === null || chunk.isEmpty) continue;
      const { body, offset, currentRun, decoded } = chunk;
      items += decoded.columns.length + decoded.faults.length;
      const input: XtrackFramesInput = { ...arrival, kind: frameInputs.kind, body, file, offset, currentRun };
      yield { input, decoded: toDecodedFrames(chunk, decoded), answers: findLooseAcks(decoded.columns) };
    }
  }
}

function* withPauses<T>(steps: Generator<void, T>): Generator<null, T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    yield null;
  }
}

/** The size of the frame at this offset, by its length prefix. */
function frameSizeAt(body: Uint8Array, at: number): number {
  return at + prefixBytes > body.length ? 0 : prefixBytes + readLength(body, at);
}

export const xtrack: Protocol = {
  facts: xtrackFacts,
  inputs: [frameInputs],
  doors: xtrackDoors,
  detect: detectXtrack,
  exported: [exportedEvent],
  records: xtrackRecords,
};
