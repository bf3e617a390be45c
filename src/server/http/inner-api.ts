// The API for callers inside the server: the same handlers behind the same scopes and schemas, without a socket.

import { text } from "node:stream/consumers";
import type { AgentApi } from "#agent/agent-api.ts";
import { paths, type RouteName } from "#api/contract/paths.ts";
import { type RouteSchemas, schemas } from "#api/contract/routes.ts";
import { type Caller, FileBody, type Handler, type Handlers, JsonBody } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { readEvents } from "#api/server-events.ts";
import { mayUse, refuseScope } from "./access.ts";
import { toEnding } from "./endings.ts";
import { toRefusal } from "./errors.ts";
import { compileSchema } from "./validation.ts";

interface Asked {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

export function createInnerApi(handlers: Handlers, caller: Caller, signal: AbortSignal): AgentApi {
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
