// Is it alive, is it ready, what does it count, what does it offer.

import type { FastifyInstance } from "fastify";
import type { QueryOf } from "#api/contract/routes.ts";
import { toOpenApi } from "#api/openapi.ts";
import { toReferencePage } from "#api/reference.ts";
import { addRoute } from "./add-route.ts";
import { toPageHeaders } from "./headers.ts";
import type { ServerOptions } from "./server-options.ts";

export function addSystemRoutes(
  app: FastifyInstance,
  { readiness, metrics }: Pick<ServerOptions, "readiness" | "metrics">,
  draining: AbortSignal,
): void {
  // Made on request: most servers are never asked for them, and they would slow every start.
  let document: string | undefined;
  let page: string | undefined;

  addRoute(app, "healthz", () => ({ ok: true }));

  addRoute(app, "readyz", async (request, reply) => {
    const { drained } = request.query as QueryOf<"readyz">;
    if (drained === "1") await readiness.drained();
    const problems = [...(draining.aborted ? ["The server is shutting down."] : []), ...readiness.problems()];
    reply.code(problems.length === 0 ? 200 : 503);
    return { ready: problems.length === 0, problems, degraded: [...(readiness.degraded?.() ?? [])] };
  });

  addRoute(app, "prometheus", async (_request, reply) => {
    reply.type(metrics.registry.contentType);
    return metrics.all().metrics();
  });

  addRoute(app, "openapi", (_request, reply) => {
    reply.type("application/json; charset=utf-8");
    document ??= JSON.stringify(toOpenApi());
    return document;
  });

  addRoute(app, "reference", (_request, reply) => {
    page ??= toReferencePage();
    reply.type("text/html; charset=utf-8").headers(toPageHeaders(page));
    return page;
  });
}
