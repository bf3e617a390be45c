// XTrack frames, as the collector would read them.

import { rowFlags } from "#model/row-flags.ts";
import { type Problem, type Tally, toProblem } from "#protocol/finding.ts";
import { type StreamChunk, XtrackStream } from "#wire/xtrack/stream.ts";
import { xtrackFacts } from "./facts.ts";

const protocol = xtrackFacts.name;

/** `text`: prints may stand between the frames. */
export async function* checkFrames(
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
