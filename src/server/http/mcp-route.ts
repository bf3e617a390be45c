// POST /mcp: the tools for agents, with the key and scopes of the caller, answered by the handlers of the API.

import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { ReadableStream } from "node:stream/web";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AgentApi } from "#agent/agent-api.ts";
import type { AnswerMcp } from "#agent/mcp-server.ts";
import { paths, type RouteName } from "#api/contract/paths.ts";
import { type RouteSchemas, schemas } from "#api/contract/routes.ts";
import { type Caller, FileBody, type Handler, type Handlers, JsonBody } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { readEvents } from "#api/server-events.ts";
import { mayUse, refuseScope } from "./access.ts";
import { addRoute } from "./add-route.ts";
import { type Endings, toEnding, watchEnd } from "./endings.ts";
import { toRefusal } from "./errors.ts";
import type { ServerOptions } from "./server-options.ts";
import { compileSchema } from "./validation.ts";

export function addMcpRoute(
  app: FastifyInstance,
  { handlers, log }: Pick<ServerOptions, "handlers" | "log">,
  endings: Endings,
): void {
  // Most servers are never asked by an agent, so the code for the protocol is loaded by the first question.
  let loading: Promise<AnswerMcp> | undefined;
  const load = async (): Promise<AnswerMcp> => {
    const { createMcpHttp } = await import("#agent/mcp-server.ts");
    return createMcpHttp((error) => log.error({ err: error }, "a tool failed"));
  };

  addRoute(app, "mcp", async (request, reply) => {
    loading ??= load();
    const answerMcp = await loading;
    const signal = watchEnd(request, reply, endings);
    const api = createInnerApi(handlers, request.caller, signal);
    const answer = await answerMcp(toRequest(request, signal), request.body ?? null, api);
    // The SDK says only that the request has ended; the reason says why.
    if (answer.status === endedStatus) signal.throwIfAborted();
    return send(reply, answer);
  });

  // Clients of an earlier version of the protocol ask for a stream of their own; this answer satisfies them.
  app.route({
    method: ["GET", "DELETE"],
    url: paths.mcp.path,
    config: { scope: paths.mcp.scope },
    handler: (_request, reply) => reply.code(405).header("allow", "POST").send(),
  });
}

const endedStatus = 499;

/** The SDK reads only the headers of a request; the address was checked before. */
function toRequest({ headers }: FastifyRequest, signal: AbortSignal): Request {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] as [string, string]] : [],
  );
  return new Request(`http://localhost${paths.mcp.path}`, { method: "POST", headers: given, signal });
}

function send(reply: FastifyReply, { status, headers, body }: Response): unknown {
  reply.code(status);
  for (const [name, value] of headers) reply.header(name, value);
  if (headers.get("content-type")?.startsWith("text/event-stream")) reply.header("x-accel-buffering", "no");
  return body === null ? reply.send() : Readable.fromWeb(body as ReadableStream);
}

// The API for callers inside the server: the same handlers behind the same scopes and schemas, without a socket.

interface Asked {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

function createInnerApi(handlers: Handlers, caller: Caller, signal: AbortSignal): AgentApi {
  const ask = async (name: RouteName, asked: Asked, until: AbortSignal): Promise<unknown> => {
    const handler = handlers[name] as Handler<RouteName> | undefined;
    if (handler === undefined) throw new Refusal("route_not_found", `There is no ${name} here.`);
    const { scope } = paths[name];
    if (!mayUse(caller, scope)) throw refuseScope(caller, scope);
    const { params = {}, query = {}, body } = asked;
    check(name, { params, query, body });
    return handler({ params, query, body, caller, signal: until, lastEventId: undefined } as never);
  };
  return {
    scopes: caller.scopes,
    call: (async (name: RouteName, asked: Asked) => toJson(await ask(name, asked, signal))) as AgentApi["call"],
    async *follow(run, after, until) {
      const answer = await ask("live", { query: { run: [run], after } }, AbortSignal.any([signal, until]));
      const { body } = answer as FileBody;
      yield* readEvents({ body: body as AsyncIterable<Uint8Array> });
    },
    explain: (error) => (toEnding(error, signal) ?? toRefusal(error))?.toAnswer() ?? null,
  };
}

async function toJson(answer: unknown): Promise<unknown> {
  if (answer instanceof FileBody) throw new Error("A file was asked for as JSON.");
  if (!(answer instanceof JsonBody)) return answer;
  const { body } = answer;
  if (typeof body === "string") return JSON.parse(body);
  return JSON.parse(Array.isArray(body) ? body.join("") : await text(body as AsyncIterable<Uint8Array>));
}

type Check = (value: unknown) => { readonly error?: Error };
const compiled = new Map<string, Check>();
const parts = { params: "params", query: "querystring", body: "body" } as const;

function check(name: RouteName, asked: Asked): void {
  const route: RouteSchemas = schemas[name];
  for (const part of Object.keys(parts) as (keyof typeof parts)[]) {
    const schema = route[part];
    if (schema === undefined) continue;
    const key = `${name} ${part}`;
    const { method, path: url } = paths[name];
    const validate = compiled.get(key) ?? (compileSchema({ schema, httpPart: parts[part], method, url }) as Check);
    compiled.set(key, validate);
    const { error } = validate(asked[part]);
    if (error !== undefined) throw error;
  }
}
