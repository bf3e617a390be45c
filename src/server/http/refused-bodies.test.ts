import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setImmediate as nextRound } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { throwAway } from "./refused-bodies.ts";

const sentBytes = 4 * 1024 * 1024;
const senders = 12;

it("lets in refused bodies a few in each round, and all of them in the end", async () => {
  const came: [IncomingMessage, ServerResponse][] = [];
  const all = Promise.withResolvers<void>();
  const server = createServer((request, answer) => {
    came.push([request, answer]);
    if (came.length === senders) all.resolve();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const body = Buffer.alloc(sentBytes);
  const sockets = Array.from({ length: senders }, () => {
    const socket = connect(port, "127.0.0.1");
    socket.write(`POST / HTTP/1.1\r\nhost: h\r\ncontent-length: ${sentBytes}\r\n\r\n`);
    socket.write(body);
    return socket;
  });
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
  await all.promise;
  for (const [request, answer] of came) {
    throwAway(request);
    answer.writeHead(429).end("no");
  }
  const flowing = (): number => came.filter(([request]) => request.readableFlowing === true).length;
  for (let round = 1; round <= senders; round++) {
    await nextRound();
    expect(flowing()).toBe(round);
  }
  await expect.poll(() => came.every(([request]) => request.readableEnded), { timeout: 20_000 }).toBe(true);
});
