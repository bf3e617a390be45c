// Rows that stream out of the store as lines of JSON: read one by one, or passed on as one JSON array.

const newline = 0x0a;
const textEncoder = new TextEncoder();
const comma: Uint8Array = textEncoder.encode(",");

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
  for await (const chunk of chunks)
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf(newline, from);
      if (owesComma) yield comma;
      owesComma = end >= 0;
      if (end !== from) yield chunk.subarray(from, owesComma ? end : chunk.length);
      from = owesComma ? end + 1 : chunk.length;
    }
  yield textEncoder.encode(after);
}
