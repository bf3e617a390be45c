// Rows that stream out of the store as lines of JSON: read one by one, or passed on as one JSON array.

const newline = 0x0a;
const comma = 0x2c;
const textEncoder = new TextEncoder();

export async function* parseLines<T>(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<T> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) yield JSON.parse(line) as T;
  }
  if (rest !== "") yield JSON.parse(rest) as T;
}

/** `before` + the lines, separated by commas + `after`. In JSON text a newline stands only between rows. */
export async function* joinLines(
  before: string,
  chunks: AsyncIterable<Uint8Array>,
  after: string,
): AsyncGenerator<Uint8Array> {
  yield textEncoder.encode(before);
  let owesComma = false;
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    const bytes = new Uint8Array(chunk.length + 1);
    let at = 0;
    for (const byte of chunk) {
      if (owesComma) bytes[at++] = comma;
      owesComma = byte === newline;
      if (!owesComma) bytes[at++] = byte;
    }
    yield bytes.subarray(0, at);
  }
  yield textEncoder.encode(after);
}
