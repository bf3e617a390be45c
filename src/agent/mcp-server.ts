// The tools behind the Model Context Protocol. The SDK speaks it, in the current version and in the ones before.

import { createMcpHandler, fromJsonSchema, type JsonSchemaType, McpServer } from "@modelcontextprotocol/server";
import { version } from "#base/version.ts";
import type { AgentApi } from "./agent-api.ts";
import { ToolMistake } from "./mistake.ts";
import type { Tool } from "./tool.ts";
import { instructions, tools } from "./tools.ts";

/** A server for one caller; `onBug` gets errors that no caller sees. */
export function createMcpServer(api: AgentApi, onBug: (error: unknown) => void): McpServer {
  const server = new McpServer(
    { name: "tributary", title: "Tributary", version },
    { instructions, capabilities: { tools: { listChanged: false } } },
  );
  for (const tool of tools) if (api.scopes.has(tool.scope)) register(server, tool, api, onBug);
  return server;
}

// Compiled once: over HTTP each request has a server of its own.
const inputs = new Map(
  tools.map(({ name, input }) => [name, fromJsonSchema<never>(input as unknown as JsonSchemaType)]),
);

const readsOnly = { readOnlyHint: true, openWorldHint: false };
const acts = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false };
const adds = { ...acts, destructiveHint: false };

function register(server: McpServer, tool: Tool, api: AgentApi, onBug: (error: unknown) => void): void {
  const { name, title, description, scope } = tool;
  const annotations = scope !== "control" ? readsOnly : name === "annotate" ? adds : acts;
  const inputSchema = inputs.get(name);
  if (inputSchema === undefined) return;
  server.registerTool(name, { title, description, inputSchema, annotations }, async (input, { mcpReq }) => {
    try {
      const { text, data } = await tool.answer(api, input, mcpReq.signal);
      // Clients that do not know structured content show a model the texts alone.
      const texts = [text, JSON.stringify(data)].map((one) => ({ type: "text" as const, text: one }));
      return { content: texts, structuredContent: { ...data } };
    } catch (error) {
      return { content: [{ type: "text", text: toSentence(error, api, onBug) }], isError: true };
    }
  });
}

/** The API's hints speak of routes; a model wants to know which tool helps. */
const hints: Readonly<Record<string, string>> = {
  run_not_found: "list_runs finds runs; any id that a run was ever known by works.",
  span_not_found: "It may be an ancestor that never arrived: then only its children are known.",
  cursor_invalid: "Pass `next` of the previous answer, unchanged, with the same filter and sort.",
  sql_refused: "One SELECT over the tables of sql_schema.",
  request_invalid: "",
};

function toSentence(error: unknown, api: AgentApi, onBug: (error: unknown) => void): string {
  if (error instanceof ToolMistake) return error.message;
  const said = api.explain(error);
  if (said !== null) return `${said.message} ${hints[said.code] ?? said.hint}`.trim();
  onBug(error);
  return "The server failed; its log says why.";
}

// The Model Context Protocol over HTTP, one request at a time: nothing is kept between two, so any server may answer any.

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
