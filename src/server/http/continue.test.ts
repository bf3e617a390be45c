import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, it } from "vitest";
import { type OpenServer, openServer } from "./open-server.testing.ts";

let open: OpenServer;
afterEach(() => open.close());

/** What the server says to a head alone, and then to the body if it asks for one. */
async function sendAsAsked({ server }: OpenServer, head: readonly string[], body: string): Promise<string> {
  const socket = connect(server.address.port, "127.0.0.1");
  const lines = [...head, "Host: localhost", "Expect: 100-continue"];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  let heard = "";
  let isAsked = false;
  socket.on("data", (chunk) => {
    heard += chunk.toString("latin1");
    if (isAsked || !heard.startsWith("HTTP/1.1 100 ")) return;
    isAsked = true;
    socket.end(body);
  });
  await once(socket, "close");
  return heard;
}

const lengthOf = (bytes: number) => `Content-Length: ${bytes}`;

it.each([
  ["a wrong key", 401, ["POST /v1/traces HTTP/1.1", "Authorization: Bearer wrong", lengthOf(1000)]],
  ["a body beyond the limit", 413, ["POST /v1/traces HTTP/1.1", lengthOf(5000)]],
  ["a file beyond the limit", 413, ["PUT /v1/traces/blobs/snapshots/s/weights.bin HTTP/1.1", lengthOf(5000)]],
  ["JSON beyond the limit", 413, ["POST /api/v1/sql HTTP/1.1", "Content-Type: application/json", lengthOf(5e6)]],
  ["a path that leads nowhere", 404, ["POST /nowhere HTTP/1.1", lengthOf(5e6)]],
])("asks for no body after the head of %s", async (name, status, head) => {
  open = await openServer({ flags: { bodyBytesMax: "4KiB", blobBytesMax: "4KiB" } });
  if (name === "a wrong key") open.addKey(["ingest"]);
  const heard = await sendAsAsked(open, head, "");
  expect(heard).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  // The sender may go on with its body or leave it out, so the connection can carry nothing else.
  expect(heard).toMatch(/^connection: close\r$/im);
});

it("asks for no body while there is no room for it", async () => {
  open = await openServer();
  open.roomFor = () => ({ busy: true, retryAfterS: 3 });
  const heard = await sendAsAsked(open, ["POST /v1/traces HTTP/1.1", lengthOf(1_000_000)], "");
  expect(heard).toMatch(/^HTTP\/1.1 429 /);
});

it("asks for a body that may come, once", async () => {
  open = await openServer();
  const heard = await sendAsAsked(open, ["POST /v1/traces HTTP/1.1", lengthOf(2)], "{}");
  expect(heard.match(/^HTTP\/1.1 \d+/gm)).toEqual(["HTTP/1.1 100", expect.not.stringContaining("100")]);
});
