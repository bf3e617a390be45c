// The frames of one descriptor, gathered into requests. To the server each request is a stream, so it is told where in
// the descriptor's stream it begins and which run was under way there.

import { prefixBytes } from "#wire/xtrack/resync.ts";
import { StreamRun } from "#wire/xtrack/stream-run.ts";

export interface FrameRequest {
  readonly body: Uint8Array;
  readonly query: { readonly offset: number; readonly current_run?: string };
}

export class FrameRequests {
  private readonly run = new StreamRun();
  private runBefore: string | null = null;
  private parts: Uint8Array[] = [];
  private offset = 0;
  /** How many bytes wait to be taken. */
  bytes = 0;

  /** A whole frame with its length; true when it starts a run. */
  addFrame(frame: Uint8Array): boolean {
    this.addDamaged(frame);
    return this.run.note(frame.subarray(prefixBytes));
  }

  /** Bytes that look like a frame and are none: the server makes a fault of them. */
  addDamaged(bytes: Uint8Array): void {
    this.parts.push(bytes);
    this.bytes += bytes.length;
  }

  take(): FrameRequest | null {
    if (this.bytes === 0) return null;
    const body = Buffer.concat(this.parts);
    const current = this.runBefore === null ? {} : { current_run: this.runBefore };
    const query = { offset: this.offset, ...current };
    this.parts = [];
    this.bytes = 0;
    this.offset += body.length;
    this.runBefore = this.run.current;
    return { body, query };
  }
}
