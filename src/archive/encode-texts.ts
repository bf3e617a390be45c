// Many small texts as chunks of bytes that are worth sending.

const bufferedChars = 64 * 1024;
const textEncoder = new TextEncoder();

export async function* encodeTexts(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let buffered = "";
  for await (const text of texts) {
    buffered += text;
    if (buffered.length < bufferedChars) continue;
    yield textEncoder.encode(buffered);
    buffered = "";
  }
  yield textEncoder.encode(buffered);
}
