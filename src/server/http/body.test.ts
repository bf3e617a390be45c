import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { UnfinishedBytes } from "#server/unfinished-bytes.ts";
import { readBody } from "./body.ts";

const limits = { bytesMax: 1 << 20, ratioMax: 100 };
const lookMs = 30_000;

describe("a body that drips", () => {
  let server: Server;
  let sender: Socket;
  const unfinished = new UnfinishedBytes(1 << 20);

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  });
  afterEach(() => {
    vi.useRealTimers();
    sender.destroy();
    server.close();
  });

  /** The body of a request whose first bytes have come. */
  async function begin(first: string): Promise<{ body: Promise<unknown>; request: IncomingMessage }> {
    server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    sender = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined);
    sender.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500000\r\n\r\n");
    const [request] = (await once(server, "request")) as [IncomingMessage];
    const body = readBody(request, limits, unfinished.open(), () => () => {}).then(
      ({ bytes }) => bytes.length,
      (error: { code: string }) => error.code,
    );
    await send(request, first);
    return { body, request };
  }

  async function send(request: IncomingMessage, text: string): Promise<void> {
    if (text === "") return;
    let left = text.length;
    const come = new Promise<void>((resolve) => {
      request.on("data", (chunk: Buffer) => {
        left -= chunk.length;
        if (left === 0) resolve();
      });
    });
    sender.write(text);
    await come;
  }

  it("is cut off at the second look, and its connection closed", async () => {
    const { body } = await begin("x");
    vi.advanceTimersByTime(lookMs);
    expect(sender.destroyed).toBe(false);
    const closed = once(sender, "close");
    vi.advanceTimersByTime(lookMs);
    expect(await body).toBe("body_cut");
    await closed;
  });

  it("is waited for when it is only slow, and not watched when it is whole", async () => {
    const { body, request } = await begin("x".repeat(150_000));
    vi.advanceTimersByTime(4 * lookMs);
    await send(request, "x".repeat(350_000));
    expect(await body).toBe(500_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not suffer for a server that stood still, whose first look comes late", async () => {
    const { body, request } = await begin("x");
    vi.advanceTimersByTime(lookMs);
    await send(request, "x".repeat(499_999));
    expect(await body).toBe(500_000);
  });
});

describe("a body that came with its head", () => {
  it("is read without a watch over its sender, request after request on one connection", async () => {
    const watched: number[] = [];
    const ended: boolean[] = [];
    const unfinished = new UnfinishedBytes(1 << 20);
    const server = createServer(async (request, response) => {
      const { bytes } = await readBody(request, limits, unfinished.open(), () => {
        watched.push(1);
        return () => {};
      });
      request.once("end", () => ended.push(true));
      response.end(Buffer.from(bytes).toString());
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const sender = connect((server.address() as AddressInfo).port, "127.0.0.1");
    let answers = "";
    sender.setEncoding("utf8").on("data", (text: string) => {
      answers += text;
    });
    for (const body of ["first", "second", "third"]) {
      sender.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      await vi.waitFor(() => expect(answers.endsWith(`\r\n\r\n${body}`)).toBe(true));
    }
    expect(watched).toEqual([]);
    await vi.waitFor(() => expect(ended).toEqual([true, true, true]));
    sender.destroy();
    server.close();
  });
});
