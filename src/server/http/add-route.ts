// Declares one route of the contract: its method, path, scope and schemas come from there and nowhere else.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { paths, type RouteName, type RouteScope } from "#api/contract/paths.ts";
import { type RouteSchemas, schemas } from "#api/contract/routes.ts";
import type { Caller } from "#api/handler.ts";
import { given } from "#base/given.ts";
import type { Sender } from "./client-address.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Who may call the route. A route without a scope is refused to everybody. */
    scope?: RouteScope;
  }
  interface FastifyRequest {
    caller: Caller;
    sender: Sender;
  }
}

const noQuery = { type: "object" } as const;

export function addRoute(
  app: FastifyInstance,
  name: RouteName,
  answer: (request: FastifyRequest, reply: FastifyReply) => unknown,
): void {
  const { method, path, scope } = paths[name];
  const { params, query, body }: RouteSchemas = schemas[name];
  // A misspelt parameter must not be ignored silently; what monitors append to their own routes is up to them.
  const querystring = scope === "open" ? query : { ...(query ?? noQuery), additionalProperties: false };
  app.route({
    method,
    url: path,
    config: { scope },
    schema: given({ params, querystring, body }),
    handler: async (request, reply) => {
      reply.header("cache-control", "no-store");
      return answer(request, reply);
    },
  });
}
