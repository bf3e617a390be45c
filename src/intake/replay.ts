// Records that are read back from the journal, each with its input. At a start there are many, and memory is empty. So a few
// hundred are read ahead, and the store is asked for what all of them need together. Whatever else a record needs, it asks for
// when its turn comes.

import { decodeInputAside, type Input } from "./input.ts";
import type { Decoded } from "./input-kind.ts";
import type { Applier, InputLog } from "./sequencer.ts";

export interface Replayed {
  readonly position: number;
  /** Null when the record cannot be read as one. */
  readonly input: Input | null;
  /** To be called once. */
  decode(): Decoded | Promise<Decoded>;
}

/** Records that are read ahead are held decoded, so their number and size are limited. */
const recordsMax = 256;
const bytesMax = 4 * 1024 * 1024;

/** Records up to `aheadTo` are read ahead; 0 for none. */
export async function* replay(
  log: InputLog,
  applier: Applier,
  from: number,
  aheadTo: number,
): AsyncGenerator<Replayed> {
  let ahead: Replayed[] = [];
  let bytes = 0;
  for await (const { position, payload } of log.replay(from)) {
    const input = await decodeInputAside(payload);
    const replayed: Replayed = { position, input, decode: () => applier.decodeAgain(position, input as Input) };
    if (position > aheadTo) {
      yield replayed;
      continue;
    }
    ahead.push(replayed);
    bytes += payload.length;
    if (ahead.length < recordsMax && bytes < bytesMax && position < aheadTo) continue;
    yield* await foresee(applier, ahead);
    ahead = [];
    bytes = 0;
  }
  yield* await foresee(applier, ahead);
}

async function foresee(applier: Applier, ahead: readonly Replayed[]): Promise<Replayed[]> {
  const foreseen: { input: Input; decoded: Decoded }[] = [];
  const decoded: Replayed[] = [];
  for (const replayed of ahead) {
    const one = await decodeAhead(replayed);
    decoded.push(one === null ? replayed : { ...replayed, decode: () => one.decoded });
    if (one !== null) foreseen.push(one);
  }
  // A record that could not be looked up, be it an outage or a bug, is looked up again when its turn comes.
  if (foreseen.length > 0) await applier.foresee?.(foreseen).catch(() => undefined);
  return decoded;
}

/** Null for a record that cannot be decoded: the reason shows when it is applied. */
async function decodeAhead({ input, decode }: Replayed): Promise<{ input: Input; decoded: Decoded } | null> {
  if (input === null) return null;
  try {
    return { input, decoded: await decode() };
  } catch {
    return null;
  }
}
