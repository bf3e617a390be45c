import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, expect, it } from "vitest";
import { type Encoding, encodeResponse, mediaOf } from "#wire/otlp/reply.ts";
import { certificate, openssl } from "../../../tests/support/certificate.ts";
import { postRequest, sayPartial } from "./post-request.ts";

const request = { signal: "traces", body: new Uint8Array([1]) } as const;
const closers: (() => void)[] = [];
const usualAuthorities = getCACertificates("default");
afterEach(() => {
  setDefaultCACertificates(usualAuthorities);
  for (const close of closers.splice(0)) close();
});

/** Its URL, and what it was asked. */
async function serve(answer: (asked: IncomingMessage, reply: ServerResponse) => void) {
  const seen: string[] = [];
  const server = createServer((asked, reply) => {
    seen.push(`${asked.method} ${asked.url} ${asked.headers["x-key"]}`);
    asked.resume().on("end", () => answer(asked, reply));
  });
  closers.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  return { url: `http://127.0.0.1:${await listen(server)}`, seen };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

function send(url: string, attemptsMax = 1): ReturnType<typeof postRequest> {
  const signal = new AbortController().signal;
  return postRequest({ url, headers: { "x-key": "k" } }, request, { signal, attemptsMax });
}

it("takes no answer to a GET for one to its POST, which a redirect would make of it", async () => {
  for (const status of [301, 302, 303]) {
    const receiver = await serve(({ method }, reply) =>
      method === "POST" ? reply.writeHead(status, { location: "/login" }).end() : reply.end("a page"),
    );
    await expect(send(receiver.url)).rejects.toThrow(`/v1/traces answered ${status}, a redirect to /login`);
    expect(receiver.seen).toEqual(["POST /v1/traces k"]);
  }
});

it("follows a redirect that keeps the POST, but shows its headers to no other host", async () => {
  const receiver = await serve(({ url }, reply) =>
    url === "/v1/traces" ? reply.writeHead(308, { location: "/otlp/v1/traces" }).end() : reply.end(),
  );
  await send(receiver.url);
  expect(receiver.seen).toEqual(["POST /v1/traces k", "POST /otlp/v1/traces k"]);
  const other = await serve((_, reply) => reply.end());
  for (const location of [`${other.url}/v1/traces`, "http://[", "/v1/traces"]) {
    const moved = await serve((_, reply) => reply.writeHead(307, { location }).end());
    await expect(send(moved.url)).rejects.toThrow("answered 307");
  }
  expect(other.seen).toEqual([]);
});

it.skipIf(openssl === undefined)("shows its headers to nobody on the way when HTTPS redirects to HTTP", async () => {
  setDefaultCACertificates([...usualAuthorities, certificate().cert]);
  let plainConnections = 0;
  const server = createSecureServer(certificate(), ({ headers }, reply) =>
    reply.writeHead(308, { location: `http://${headers.host}/v1/traces` }).end(),
  );
  server.on("tlsClientError", () => plainConnections++);
  closers.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  const url = `https://127.0.0.1:${await listen(server)}`;
  await expect(send(url)).rejects.toThrow("answered 308, a redirect to http://");
  expect(plainConnections).toBe(0);
});

it("waits a moment when the receiver asks for no wait or one in the past", async () => {
  for (const after of ["0", "", "-10"]) {
    const receiver = await serve((_, reply) => reply.writeHead(429, { "retry-after": after }).end());
    const start = performance.now();
    await expect(send(receiver.url, 2)).rejects.toThrow("answered 429");
    expect(performance.now() - start).toBeGreaterThan(400);
  }
});

it("gives what the receiver did not take of a request, in its own words, and sends nothing again", async () => {
  for (const encoding of ["json", "protobuf"] satisfies Encoding[]) {
    const receiver = await serve((_, reply) =>
      reply
        .writeHead(200, { "content-type": `${mediaOf[encoding]}; charset=utf-8` })
        .end(encodeResponse(encoding, "traces", 2, "no room\nleft")),
    );
    const partial = await send(receiver.url, 3);
    expect([encoding, partial]).toEqual([encoding, { rejected: 2, message: "no room left" }]);
    expect(receiver.seen).toHaveLength(1);
  }
  const to = { url: "http://r", headers: {} };
  expect(sayPartial(to, "traces", { rejected: 2, message: "no room" })).toBe("http://r did not take 2 spans: no room");
  expect(sayPartial(to, "logs", { rejected: 1, message: "" })).toBe("http://r did not take 1 log record");
  expect(sayPartial(to, "metrics", { rejected: 0, message: "old" })).toBe("http://r warns: old");
});

it("reads no more of an answer than it can use", async () => {
  const receiver = await serve((_, reply) => {
    reply.writeHead(200);
    const more = () => {
      while (!reply.destroyed && reply.write(Buffer.alloc(65_536, "x")));
    };
    reply.on("drain", more).on("error", () => undefined);
    more();
  });
  expect(await send(receiver.url)).toBeNull();
});
