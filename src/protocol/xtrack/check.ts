// XTrack frames, as the collector would read them.

import { rowFlags } from "#model/row-flags.ts";
import { type Problem, type Tally, toProblem } from "#protocol/finding.ts";
import { EventDecoder } from "#wire/xtrack/decode.ts";
import { EventColumns } from "#wire/xtrack/event-columns.ts";
import { Framer } from "#wire/xtrack/frame.ts";
import { xtrackFacts } from "./facts.ts";

const protocol = xtrackFacts.name;
/** Rows of frames that are only checked are dropped again before they grow. */
const eventsHeldMax = 10_000;

/** `text`: prints may stand between the frames. */
export async function* checkFrames(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
  text: boolean,
  tally: Tally,
): AsyncGenerator<Problem> {
  const check = new FrameCheck(file, text, tally);
  for await (const chunk of chunks) {
    check.framer.push(chunk);
    yield* check.drain();
  }
  check.framer.finish();
  yield* check.drain();
}

class FrameCheck {
  readonly framer: Framer;
  private readonly decoder = new EventDecoder();
  private readonly file: string;
  private readonly tally: Tally;

  constructor(file: string, text: boolean, tally: Tally) {
    this.framer = new Framer({ text });
    this.file = file;
    this.tally = tally;
  }

  *drain(): Generator<Problem> {
    const { framer } = this;
    for (;;) {
      const step = framer.next();
      if (step === "wait" || step === "end") return;
      if (step === "skipped" && framer.skipped !== undefined) {
        const { code, detail, offset } = framer.skipped;
        yield toProblem("error", protocol, this.file, { code, detail, place: { offset } });
      } else if (step === "frame") yield* this.decode();
    }
  }

  private *decode(): Generator<Problem> {
    const { framer, decoder } = this;
    const { frameOffset: offset } = framer;
    const outcome = decoder.decode(framer.bytes, framer.frameStart, framer.frameEnd, offset);
    if (outcome === "not_json") framer.reject();
    else if (outcome === "auth") this.tally.addRecord(protocol, "auth");
    else if (outcome === "refused" && decoder.refusal !== undefined) {
      const { code, detail, pointer } = decoder.refusal;
      yield toProblem("error", protocol, this.file, { code, detail, place: { offset, pointer } });
    } else if (outcome === "event") yield* this.takeEvent(offset);
  }

  private *takeEvent(offset: number): Generator<Problem> {
    const { columns } = this.decoder;
    const type = columns.type.at(columns.length - 1);
    this.tally.addRecord(protocol, type);
    const { rows, event } = columns.events;
    const last = event.length - 1;
    const flags = last >= 0 && event.at(last) === columns.length - 1 ? rows.flags.at(last) : 0;
    if ((flags & rowFlags.unknown_type) !== 0) {
      const detail = `event type ${JSON.stringify(type)} is not of this protocol version; it would be kept as it is`;
      yield toProblem("warning", protocol, this.file, {
        code: "unknown_type",
        detail,
        place: { offset, pointer: "/t" },
      });
    }
    if (columns.length >= eventsHeldMax) this.decoder.columns = new EventColumns();
  }
}
