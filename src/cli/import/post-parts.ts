// One request, or several if the bytes are lines and exceed the server's limit. Of a line that is too long for a request of
// its own, the beginning is sent, which the server keeps as a fault; the other lines are taken.

import { ApiError } from "#cli/client.ts";
import { headBytes, newline, type ReadFault, type Shipment } from "#protocol/reading/reader.ts";

export interface Post {
  /** Resolves with the answer's JSON. */
  readonly post: (shipment: Shipment, bytes: Uint8Array) => Promise<unknown>;
  readonly take: (answer: unknown) => void;
  readonly note: (fault: ReadFault) => void;
}

export async function postParts(how: Post, shipment: Shipment, bytes: Uint8Array): Promise<void> {
  const { line, offset = 0 } = shipment.query ?? {};
  try {
    how.take(await how.post(shipment, bytes));
  } catch (error) {
    const isTooLarge = error instanceof ApiError && error.status === 413 && bytes.length > headBytes;
    if (!isTooLarge || line === undefined) throw error;
    const half = findLineEnd(bytes, bytes.length / 2);
    if (half < bytes.length) {
      const [first, second] = [bytes.subarray(0, half), bytes.subarray(half)];
      await postParts(how, shipment, first);
      const query = { ...shipment.query, line: line + countLines(first), offset: offset + half };
      return postParts(how, { ...shipment, query }, second);
    }
    const message = `The line has ${bytes.length} bytes. ${error.message}`;
    how.note({ file: shipment.file, line, code: "line_too_long", message });
    // That it is torn now is our doing, so what the server says of it is not told.
    await how.post(shipment, bytes.subarray(0, headBytes));
  }
}

/** Where the lines can be parted: at the end of the line around `at`, else of the one before the last. */
function findLineEnd(bytes: Uint8Array, at: number): number {
  const next = bytes.indexOf(newline, Math.floor(at)) + 1;
  if (next > 0 && next < bytes.length) return next;
  const before = bytes.lastIndexOf(newline, bytes.length - 2) + 1;
  return before > 0 ? before : bytes.length;
}

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) lines++;
  return lines;
}
