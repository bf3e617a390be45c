import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, it } from "vitest";
import { FileBody, type Handlers } from "#api/handler.ts";
import { StoreOutage } from "#store/outage.ts";
import { type OpenServer, openServer } from "./open-server.testing.ts";

let open: OpenServer | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

interface Asked {
  readonly signal: AbortSignal;
}

/** Handlers that wait for their end, and fail as real ones do; `begun` counts those that wait. */
function createWaiting() {
  let begun = 0;
  const whenEnded = async (signal: AbortSignal): Promise<void> => {
    begun++;
    await once(signal, "abort");
  };
  async function* write(signal: AbortSignal, first: string): AsyncGenerator<Uint8Array> {
    if (first !== "") yield Buffer.from(first);
    await whenEnded(signal);
    signal.throwIfAborted();
  }
  const handlers = {
    // A question to the store.
    runs: async ({ signal }: Asked) => {
      await whenEnded(signal);
      throw new StoreOutage("cancelled", "the call was cancelled");
    },
    // A file whose first byte has not come.
    backup: ({ signal }: Asked) => new FileBody("application/x-tar", write(signal, ""), "all.tar"),
    // A file that has begun.
    exportRuns: ({ signal }: Asked) => new FileBody("text/plain", write(signal, "begun"), "all.txt"),
    // What waits for something that is neither.
    run: async ({ signal }: Asked) => {
      await whenEnded(signal);
      throw new DOMException("This operation was aborted", "AbortError");
    },
    // A bug that shows while the server stops is still one.
    compare: async ({ signal }: Asked) => {
      await whenEnded(signal);
      throw new Error("a bug");
    },
  } as unknown as Handlers;
  return { handlers, begun: () => begun };
}

interface Told {
  readonly status: number;
  readonly code: string;
  readonly headers: Headers;
}

async function ask(path: string, headers: Record<string, string> = {}): Promise<Told> {
  const response = await fetch((open as OpenServer).url + path, { headers });
  const { code } = (await response.json()) as { code: string };
  return { status: response.status, code, headers: response.headers };
}

const paths = ["/api/v1/runs", "/api/v1/backup", "/api/v1/runs/x"];

it("tells who waits for an answer that the server stops, and to come again", async () => {
  const { handlers, begun } = createWaiting();
  open = await openServer({ handlers });
  const asked = Promise.all([...paths, "/api/v1/compare?run=a&run=b"].map((path) => ask(path)));
  const file = await fetch(`${open.url}/api/v1/export`);
  await expect.poll(begun).toBe(5);
  const closed = open.server.close(5000);
  const told = await asked;
  expect(told.map(({ status, code }) => [status, code])).toEqual([
    ...paths.map(() => [503, "shutting_down"]),
    [500, "internal"],
  ]);
  expect(told[1]?.headers.get("retry-after")).toBe("1");
  expect(told[1]?.headers.get("content-disposition")).toBeNull();
  // What has begun ends as what it is, unfinished.
  await expect(file.text()).rejects.toThrow("terminated");
  await closed;
});

it("ends what a revoked key is waiting for, and says why", async () => {
  const { handlers, begun } = createWaiting();
  open = await openServer({ handlers });
  const authorization = `Bearer ${open.addKey(["admin"])}`;
  const asked = Promise.all(paths.map((path) => ask(path, { authorization })));
  const file = await fetch(`${open.url}/api/v1/export`, { headers: { authorization } });
  await expect.poll(begun).toBe(4);
  open.keys.splice(0);
  for (const { status, code } of await asked) expect([status, code]).toEqual([401, "key_wrong"]);
  await expect(file.text()).rejects.toThrow("terminated");
});

it("cuts off an answer that a revoked key's reader leaves lying", async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  async function* endless() {
    try {
      for (;;) yield new Uint8Array(65_536);
    } finally {
      end();
    }
  }
  open = await openServer({ handlers: { exportRuns: () => new FileBody("application/x-ndjson", endless()) } });
  const socket = connect(open.server.address.port, "127.0.0.1").on("error", () => undefined);
  const head = ["GET /api/v1/export HTTP/1.1", "Host: localhost", `Authorization: Bearer ${open.addKey(["read"])}`];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  await once(socket, "readable");
  open.keys.splice(0);
  await ended;
  socket.destroy();
});

it.each(["POST /v1/traces", "PUT /v1/traces/blobs/snapshots/s/weights.safetensors", "POST /api/v1/sql"])(
  "takes no body of a key that was revoked while it came: %s",
  async (route) => {
    open = await openServer({ handlers: { sql: () => ({}) as never } });
    const key = open.addKey(["admin"]);
    const socket = connect(open.server.address.port, "127.0.0.1").on("error", () => undefined);
    const type = route.includes("sql") ? "application/json" : "application/octet-stream";
    const head = [`${route} HTTP/1.1`, "Host: localhost", `Authorization: Bearer ${key}`, `Content-Type: ${type}`];
    socket.write(`${[...head, "Content-Length: 1000", "Expect: 100-continue"].join("\r\n")}\r\n\r\n`);
    // The server has read the head, so the key was good.
    await once(socket, "data");
    socket.write("begun");
    open.keys.splice(0);
    socket.resume();
    await once(socket, "close");
    expect([open.inputs, open.blobs]).toEqual([[], []]);
  },
);

it("does not keep a stop waiting for a connection that says nothing, nor for one whose stream has ended", async () => {
  const live = async function* (signal: AbortSignal) {
    yield Buffer.from(": begun\n\n");
    await once(signal, "abort");
  };
  open = await openServer({
    handlers: { live: ({ signal }: Asked) => new FileBody("text/event-stream", live(signal)) } as unknown as Handlers,
  });
  const silent = connect(open.server.address.port, "127.0.0.1");
  const streaming = connect(open.server.address.port, "127.0.0.1");
  streaming.write("GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await once(streaming, "data");
  const ended = [silent, streaming].map((socket) => once(socket.resume(), "close"));
  const begun = performance.now();
  await open.server.close(20_000);
  await Promise.all(ended);
  expect(performance.now() - begun).toBeLessThan(10_000);
});
