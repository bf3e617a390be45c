// The run that events without an id belong to. A sender that cuts a stream into several requests names it in each.

import { EventDecoder } from "./decode.ts";

const runStart = Buffer.from('"run_start"');

export class StreamRun {
  private readonly decoder = new EventDecoder();

  /** The run of the last run_start; null before the first. */
  get current(): string | null {
    return this.decoder.streamRun === "" ? null : this.decoder.streamRun;
  }

  /** Takes the payload of the next frame; true when it starts a run. */
  note(payload: Uint8Array): boolean {
    const { decoder } = this;
    // The type may stand behind a large payload.
    if (!Buffer.from(payload.buffer, payload.byteOffset, payload.length).includes(runStart)) return false;
    decoder.decode(payload, 0, payload.length, 0);
    const isStart = decoder.columns.starts.length > 0;
    decoder.renewColumns();
    return isStart;
  }
}
