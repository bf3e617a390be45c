import { connect } from "node:net";
import { expect, it } from "vitest";
import { makeFolder } from "../../../tests/support/folder.ts";
import { listenFor, openSmallCollector } from "./small-collector.testing.ts";

it("tells a client that speaks HTTP that it took the wrong port, and stores nothing of it", async () => {
  const dir = makeFolder();
  const collector = await openSmallCollector({ dir });
  const server = await listenFor(collector);
  const { port } = server.address as { port: number };
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString();
    });
    socket.on("end", () => resolve(text));
    socket.on("error", reject);
  });
  expect(answer).toMatch(/^HTTP\/1\.1 400 .*port for XTrack frames/s);
  expect(collector.journal.state().nextPosition).toBe(1);
  await server.close();
  await collector.close();
});
