import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { exchange } from "./http.ts";

it("gives up an answer that trickles in without an end", async () => {
  let isOpen = true;
  const server = createServer((_, reply) => {
    reply.writeHead(200);
    const drip = setInterval(() => reply.write("."), 20);
    reply.on("close", () => {
      clearInterval(drip);
      isOpen = false;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const request = { method: "POST", url, headers: {}, body: new Uint8Array(1) } as const;
    expect(await exchange(request, 300)).toMatchObject({ kind: "outage" });
    await expect.poll(() => isOpen).toBe(false);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
