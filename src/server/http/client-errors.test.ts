import { afterEach, expect, it } from "vitest";
import { type OpenServer, openServer } from "./open-server.testing.ts";
import { sendRaw } from "./raw-request.testing.ts";

let one: OpenServer;
afterEach(() => one.close());

it("tells what is not HTTP in the one error shape, and XTrack frames where they belong", async () => {
  one = await openServer();
  const { port } = one.server.address;
  const plain = await sendRaw(port, "hello\r\n\r\n");
  expect([plain.status, JSON.parse(plain.body)]).toMatchObject([400, { code: "request_invalid", hint: "" }]);
  const frame = await sendRaw(port, Buffer.from([0, 0, 0, 2, 0x7b, 0x7d]));
  expect([frame.status, JSON.parse(frame.body)]).toMatchObject([400, { hint: expect.stringContaining("/v1/xtrack") }]);
});

it("tells an address that leads to no route in the one error shape", async () => {
  one = await openServer({ handlers: { run: () => ({}) as never } });
  for (const [name, status] of [
    ["%FF", 400],
    ["a".repeat(5000), 414],
  ] as const) {
    const answer = await fetch(`${one.url}/api/v1/runs/${name}`);
    const body = { code: "request_invalid", message: expect.stringContaining("address"), hint: "", at: null };
    expect([answer.status, await answer.json()]).toEqual([status, body]);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  }
});
