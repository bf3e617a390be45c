// Many small texts as chunks of bytes that are worth sending, in turns with everybody else's work.

import { Turn } from "#base/turns.ts";

const bufferedChars = 64 * 1024;
const textEncoder = new TextEncoder();

export async function* encodeTexts(texts: AsyncIterable<string> | Iterable<string>): AsyncGenerator<Uint8Array> {
  const turn = new Turn();
  let buffered = "";
  for await (const text of texts) {
    buffered += text;
    if (buffered.length < bufferedChars) continue;
    if (turn.isOver) await turn.pass();
    yield textEncoder.encode(buffered);
    buffered = "";
  }
  yield textEncoder.encode(buffered);
}
