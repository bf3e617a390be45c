// The HTTP server: what every request passes before a route sees it, in this order.
//
//   host     a name this server answers to, or a valid key      403
//   origin   for what changes something: a page of this server  403
//   key      the caller, by header, cookie or loopback           401
//   scope    what the route was declared with                    403
//   schema   params, query, body                                 400
//
// A route that was declared without a scope is refused to everybody.

import { readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { promisify } from "node:util";
import { type FastifyInstance, type FastifyRequest, type FastifyServerOptions, fastify } from "fastify";
import { paths } from "#api/contract/paths.ts";
import type { Caller } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { parseExactly } from "#base/json/exact-integers.ts";
import type { Address } from "#config/kinds.ts";
import type { Config } from "#config/settings.ts";
import { type Access, createAccess, mayUse, refuseScope } from "./access.ts";
import { isLoopback } from "./addresses.ts";
import { addApiRoutes } from "./api-routes.ts";
import { addBlobRoutes } from "./blob-routes.ts";
import { readBody } from "./body.ts";
import { createSenderOf, type Sender } from "./client-address.ts";
import { answerClientError } from "./client-errors.ts";
import { holdBodies, holdsBody } from "./continue.ts";
import { refuseStopping } from "./endings.ts";
import { handleErrors, sendRefusal, toRefusal } from "./errors.ts";
import { commonHeaders } from "./headers.ts";
import { isAllowedHost, isSameOrigin, refuseHost, refuseOrigin } from "./host-check.ts";
import { watchIdleConnections } from "./idle-connections.ts";
import { addIngestRoutes } from "./ingest-routes.ts";
import { addMcpRoute } from "./mcp-route.ts";
import type { KeyStore } from "./ports.ts";
import type { ServerOptions } from "./server-options.ts";
import { addSessionRoutes } from "./session-routes.ts";
import { type Admit, addSocketRoute } from "./socket-route.ts";
import { addSystemRoutes } from "./system-routes.ts";
import { compileSchema } from "./validation.ts";
import { addWebApp } from "./web-app.ts";

export interface HttpServer {
  readonly address: Address;
  readonly url: string;
  readonly access: Access;
  /** Answers a request that came by another port. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Stops listening, lets requests in flight end, and cuts what is left after the given time. */
  close(withinMs?: number): Promise<void>;
}

/** Thrown when the server would listen where others can reach it while nobody needs a key. */
export class BindError extends Error {
  readonly kind = "bind";
}

export function checkBind(host: string, port: number, keys: KeyStore, dataDir: string): void {
  if (isLoopback(host) || keys.list().length > 0) return;
  const quoted = /^[\w@%+=:,./-]+$/.test(dataDir) ? dataDir : `'${dataDir.replaceAll("'", "'\\''")}'`;
  throw new BindError(
    `Tributary does not listen on ${host}:${port}, where others can reach it, without an API key. ` +
      `Create one first: tributary keys create --name first --scope admin --data ${quoted}`,
  );
}

export async function createHttpServer(options: ServerOptions): Promise<HttpServer> {
  const { config, keys, metrics, log } = options;
  const { host, port } = config.httpAddress;
  checkBind(host, port, keys, config.dataDir);
  const draining = new AbortController();
  const access = createAccess(options, config);
  const senderOf = createSenderOf(config.trustedProxies);
  const app = fastify(toFastifyOptions(config, options.xtrack)) as unknown as FastifyInstance;
  const guard = createGuard(options, access);

  app.setValidatorCompiler(compileSchema as never);
  app.decorateRequest("caller", null as unknown as Caller);
  app.decorateRequest("sender", null as unknown as Sender);
  app.decorateRequest("ended", null);
  parseJsonOnly(app, options);
  handleErrors(app, log);
  // The hooks call back: they run for every small batch, and a promise each would be among its larger costs.
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(commonHeaders);
    if (config.tlsCert !== "") reply.header("strict-transport-security", "max-age=31536000");
    const { scope } = request.routeOptions.config;
    request.sender = senderOf(request.raw);
    const admitted = guard(request.raw, request.sender, toWish(request));
    if (admitted instanceof Refusal) {
      const open = scope === "open" || request.is404;
      // A wrong key must not hide the login page or the liveness of the server.
      if (!open || admitted.status !== 401) {
        metrics.refused.inc({ reason: admitted.code });
        sendRefusal(reply, admitted);
        return;
      }
      request.caller = nobody;
      done();
      return;
    }
    request.caller = admitted;
    if (!request.is404 && (scope === undefined || !mayUse(admitted, scope))) {
      const refusal = refuseScope(admitted, scope ?? "admin");
      metrics.refused.inc({ reason: refusal.code });
      sendRefusal(reply, refusal);
      return;
    }
    done();
  });
  // A kept connection would otherwise hold up a closing server until its time is over, and a body that was never asked for
  // would be read as the next request.
  app.addHook("onSend", (request, reply, payload, done) => {
    if (draining.signal.aborted || holdsBody(request.raw)) reply.header("connection", "close");
    done(null, payload);
  });
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.routeOptions.url ?? "none";
    metrics.httpSeconds.observe({ route, status: String(reply.statusCode) }, reply.elapsedTime / 1000);
    log.debug(
      { method: request.method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      "request",
    );
    done();
  });

  await addRoutes(app, options, access, draining.signal);
  const admit: Admit = (request) => admitSocket(request, senderOf(request), guard);
  holdBodies(app.server as Server);
  const sockets = addSocketRoute(app.server as Server, options, admit);
  const idle = watchIdleConnections(app.server as Server);
  app.server.maxConnections = config.httpConnectionsMax;
  await app.listen({ host, port });
  const bound = app.server.address() as AddressInfo;
  const scheme = config.tlsCert === "" ? "http" : "https";
  return {
    access,
    handle: (request, response) => void app.server.emit("request", request, response),
    address: { host: bound.address, port: bound.port },
    url: `${scheme}://${bound.family === "IPv6" ? `[${bound.address}]` : bound.address}:${bound.port}`,
    async close(withinMs = 10_000) {
      draining.abort(refuseStopping());
      sockets.close();
      const cut = setTimeout(() => (app.server as Server).closeAllConnections(), withinMs);
      idle.sweep();
      await app.close();
      clearTimeout(cut);
    },
  };
}

const jsonBytesMax = 1024 * 1024;

/**
 * A form on another site can send text but not JSON, so nothing but JSON is taken; a DELETE may declare JSON and send
 * nothing.
 */
function parseJsonOnly(app: FastifyInstance, { config, unfinished, keyWatch }: ServerOptions): void {
  const parse = promisify(app.getDefaultJsonParser("error", "error"));
  const limits = { bytesMax: jsonBytesMax, ratioMax: config.bodyRatioMax };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", async (request: FastifyRequest) => {
    const share = unfinished.open();
    try {
      const { source } = request.caller;
      const { bytes } = await readBody(request.raw, limits, share, (onGone) => keyWatch.watch(source, onGone));
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
      if (text.length === 0) return undefined;
      const value: unknown = await parse(request, text);
      // A command's payload reaches its worker as it was sent.
      return longInteger.test(text) ? parseExactly(text) : value;
    } finally {
      share.close();
    }
  });
}

/** A number that a double may not hold. */
const longInteger = /\d{16}/;

/** A caller who may see only what is open to all. */
const nobody: Caller = { workspace: "", scopes: new Set(), isOfServer: false, name: "", keyId: null, source: "" };

/** What matters about a request for deciding who may send it. */
interface Wish {
  /** It changes something or costs much, so no page of another site may send it. */
  readonly changes: boolean;
  /** A balancer or a monitor asks by whatever name it has for this server. */
  readonly anyHost: boolean;
}

type Guard = (request: IncomingMessage, sender: Sender, wish: Wish) => Caller | Refusal;

const anyHostPaths: ReadonlySet<string> = new Set([paths.healthz.path, paths.readyz.path, paths.prometheus.path]);

function toWish({ method, routeOptions: { url = "" } }: FastifyRequest): Wish {
  const reads = method === "GET" || method === "HEAD";
  return { changes: !reads || url === paths.backup.path, anyHost: reads && anyHostPaths.has(url) };
}

function createGuard({ config }: ServerOptions, access: Access): Guard {
  const rules = { boundHost: config.httpAddress.host, hosts: config.httpHosts };
  return (request, sender, { changes, anyHost }) => {
    const { host, origin, authorization, cookie } = request.headers;
    const site = request.headers["sec-fetch-site"];
    const caller = access.identify({ authorization, cookie, sender });
    const hasValidKey = !(caller instanceof Refusal) && caller.keyId !== null && authorization !== undefined;
    if (countHosts(request) > 1) return refuseHost(undefined);
    if (!hasValidKey && !anyHost && !isAllowedHost(host, rules)) return refuseHost(host);
    if (changes && !isSameOrigin(origin, typeof site === "string" ? site : undefined, host))
      return refuseOrigin(origin);
    return caller;
  };
}

/** Of two Host headers, a proxy and this server might each believe another one. */
function countHosts({ rawHeaders }: IncomingMessage): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts;
}

function admitSocket(request: IncomingMessage, sender: Sender, guard: Guard): ReturnType<Admit> {
  const caller = guard(request, sender, { changes: true, anyHost: false });
  if (caller instanceof Refusal) return caller;
  return mayUse(caller, "ingest") ? { caller, address: sender.address } : refuseScope(caller, "ingest");
}

const mediaType = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?: *; *[\w!#$%&'*+.^`|~-]+=[^;]+)*$/;

async function addRoutes(app: FastifyInstance, options: ServerOptions, access: Access, draining: AbortSignal) {
  // Ingest bodies are read by their routes, within limits; nothing may parse them first.
  // biome-ignore lint/nursery/noMisusedPromises: the framework waits for what its plugins do.
  await app.register(async (ingest) => {
    ingest.removeAllContentTypeParsers();
    // A pattern rather than "*": the framework caches which types match a pattern.
    ingest.addContentTypeParser(/^/, (_request, _payload, done) => done(null));
    // An invalid type must not get a body refused: a client whose batch is refused throws it away.
    ingest.addHook("onRequest", (request, _reply, done) => {
      if (!mediaType.test(request.headers["content-type"] ?? "")) delete request.headers["content-type"];
      done();
    });
    addIngestRoutes(ingest, options);
    addBlobRoutes(ingest, options);
  });
  addSessionRoutes(app, options, access);
  addSystemRoutes(app, options, draining);
  const endings = { draining, keys: options.keyWatch };
  addApiRoutes(app, options.handlers, endings);
  addMcpRoute(app, options, endings);
  await addWebApp(app, options.webDir);
}

function formatPlace(place: Address | null): string {
  return place === null ? "" : `${place.host}:${place.port}`;
}

function toFastifyOptions(config: Config, xtrack: () => Address | null): FastifyServerOptions {
  const server = {
    headersTimeout: config.headerTimeoutMs,
    requestTimeout: config.requestTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, config.headerTimeoutMs),
    maxHeaderSize: 32 * 1024,
    noDelay: true,
  };
  const tls = config.tlsCert !== "";
  const listener = tls
    ? { https: { ...server, cert: readFileSync(config.tlsCert), key: readFileSync(config.tlsKey) } }
    : { http: server };
  return {
    ...listener,
    clientErrorHandler: (error: Error, socket: Socket) => answerClientError(error, socket, formatPlace(xtrack())),
    // Errors of an address that leads to no route, before any hook.
    frameworkErrors: (error, _request, reply) =>
      sendRefusal(reply.headers(commonHeaders), toRefusal(error) ?? new Refusal("request_invalid", error.message)),
    bodyLimit: jsonBytesMax,
    keepAliveTimeout: config.idleTimeoutMs,
    requestTimeout: config.requestTimeoutMs,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    exposeHeadRoutes: true,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 4096, caseSensitive: true },
  } as FastifyServerOptions;
}
