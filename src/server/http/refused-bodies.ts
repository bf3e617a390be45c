// What still comes of bodies that were refused. It is read and thrown away, so that whoever reads no answer before all is sent
// hears of it, and can go on. Their senders mostly try again at once, and one round of the event loop would read as much as
// they can send, with everybody else waiting: so only so much is let in each round.

import type { IncomingMessage } from "node:http";

const roundBytesMax = 4 * 1024 * 1024;

const line: IncomingMessage[] = [];

function readOn(): void {
  let bytes = 0;
  while (bytes < roundBytesMax) {
    const request = line.shift();
    if (request === undefined) return;
    bytes += Number(request.headers["content-length"] ?? roundBytesMax);
    request.resume();
  }
  if (line.length > 0) setImmediate(readOn);
}

export function throwAway(request: IncomingMessage): void {
  // Once it has been read from, it is not read on its own when its answer is sent.
  request.read();
  if (line.push(request) === 1) setImmediate(readOn);
}
