// POST /mcp: the tools of agents, with the caller's key and scopes, by the handlers that answer everybody.

import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AnswerMcp } from "#agent/mcp-server.ts";
import { paths } from "#api/contract/paths.ts";
import { addRoute } from "./add-route.ts";
import { type Endings, watchEnd } from "./endings.ts";
import { createInnerApi } from "./inner-api.ts";
import type { ServerOptions } from "./server-options.ts";

export function addMcpRoute(
  app: FastifyInstance,
  { handlers, log }: Pick<ServerOptions, "handlers" | "log">,
  endings: Endings,
): void {
  // Most servers are never asked by an agent, so what speaks the protocol is loaded by the first one.
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
    // The SDK says no more than that the request has ended; the reason knows why.
    if (answer.status === endedStatus) signal.throwIfAborted();
    return send(reply, answer);
  });

  // Clients of the earlier version ask for a stream of their own, and are content with this answer.
  app.route({
    method: ["GET", "DELETE"],
    url: paths.mcp.path,
    config: { scope: paths.mcp.scope },
    handler: (_request, reply) => reply.code(405).header("allow", "POST").send(),
  });
}

const endedStatus = 499;

/** What the SDK reads of a request are its headers: the address was checked before. */
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
