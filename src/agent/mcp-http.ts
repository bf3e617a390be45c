// The Model Context Protocol over HTTP, one request at a time: nothing is kept between two, so any server may answer any.

import { createMcpHandler } from "@modelcontextprotocol/server";
import type { AgentApi } from "./agent-api.ts";
import { createMcpServer } from "./mcp-server.ts";

/** `body` is the request's, parsed. */
export type AnswerMcp = (request: Request, body: unknown, api: AgentApi) => Promise<Response>;

export function createMcpHttp(onBug: (error: unknown) => void): AnswerMcp {
  const asking = new WeakMap<Request, AgentApi>();
  const handler = createMcpHandler(({ requestInfo }) => {
    const api = requestInfo === undefined ? undefined : asking.get(requestInfo);
    if (api === undefined) throw new Error("A request came to the tools without its caller.");
    return createMcpServer(api, onBug);
  });
  return (request, body, api) => {
    asking.set(request, api);
    return handler.fetch(request, { parsedBody: body });
  };
}
