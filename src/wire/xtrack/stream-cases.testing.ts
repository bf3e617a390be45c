// Shared by the tests of this folder: streams built by hand from the document, and readers that gather a framer's
// whole answer.

import { joinBytes } from "#base/join-bytes.ts";
import { Framer, type FramerOptions, type Skipped } from "./frame.ts";
import { findJsonTrouble } from "./resync.ts";

const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder();

/** A frame made byte by byte as the document draws it, independently of the encoder. */
export function frameOf(payload: string | Uint8Array): Uint8Array {
  const body = typeof payload === "string" ? textEncoder.encode(payload) : payload;
  const size = body.length;
  return join(Uint8Array.of(size >>> 24, (size >>> 16) & 255, (size >>> 8) & 255, size & 255), body);
}

export function join(...parts: readonly Uint8Array[]): Uint8Array {
  return joinBytes(parts);
}

function latin(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

export interface Gathered {
  readonly frames: string[];
  readonly offsets: number[];
  readonly skipped: Omit<Skipped, "raw">[];
  readonly raw: string[];
  readonly text: string;
  readonly ending: string;
}

/** Cuts the stream at the given places and gathers what the framer says; payloads that are no JSON are rejected. */
export function gather(stream: Uint8Array, cuts: readonly number[] = [], options: FramerOptions = {}): Gathered {
  const framer = new Framer(options);
  const frames: string[] = [];
  const offsets: number[] = [];
  const skipped: Omit<Skipped, "raw">[] = [];
  const raw: string[] = [];
  let text = "";
  const drain = () => {
    for (;;) {
      const step = framer.next();
      if (step === "wait" || step === "end") return;
      if (step === "frame") {
        const { bytes, frameStart, frameEnd } = framer;
        if (findJsonTrouble(bytes, frameStart, frameEnd) !== undefined) framer.reject();
        else {
          frames.push(textDecoder.decode(bytes.subarray(frameStart, frameEnd)));
          offsets.push(framer.frameOffset);
        }
      } else if (step === "skipped" && framer.skipped !== undefined) {
        const { raw: bytes, ...range } = framer.skipped;
        skipped.push(range);
        raw.push(latin(bytes));
      } else text += latin(framer.bytes.subarray(framer.textStart, framer.textEnd));
    }
  };
  const edges = [0, ...[...cuts].sort((a, b) => a - b), stream.length];
  for (let i = 1; i < edges.length; i++) {
    framer.push(stream.slice(edges[i - 1], edges[i]));
    drain();
  }
  framer.finish();
  drain();
  return { frames, offsets, skipped, raw, text, ending: framer.ending };
}

export function everyByte(stream: Uint8Array): number[] {
  return Array.from({ length: Math.max(0, stream.length - 1) }, (_, i) => i + 1);
}
