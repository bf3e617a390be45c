// The browser application: files built into a folder, and its first page for every address that is a view of it.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";
import { Refusal } from "#api/refusal.ts";
import { sendRefusal } from "./errors.ts";
import { toPageHeaders } from "./headers.ts";

// Files under assets/ have a hash of their content in their name and never change.
const hashed = /\/assets\//;

const notBuilt = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Tributary</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}code{background:#8882;padding:.1em .3em}</style>
<h1>Tributary is running</h1>
<p>It takes traces and answers queries. The browser application was not built in this checkout;
<code>npm run build:web</code> builds it, then reload this page.</p>
<ul>
<li><a href="/reference">The API, route by route</a> (<a href="/openapi.json">OpenAPI</a>)</li>
<li><a href="/api/v1/runs">Runs</a>, as JSON</li>
<li><a href="/readyz">Readiness</a> and <a href="/metrics">metrics</a></li>
</ul>
</html>
`;

export async function addWebApp(app: FastifyInstance, folder: string): Promise<void> {
  const built = existsSync(join(folder, "index.html"));
  const readPage = () => (built ? readFileSync(join(folder, "index.html"), "utf8") : notBuilt);

  const sendPage = (reply: FastifyReply) => {
    const page = readPage();
    return reply
      .type("text/html; charset=utf-8")
      .headers({ ...toPageHeaders(page), "cache-control": "no-cache" })
      .send(page);
  };

  if (built) {
    // biome-ignore lint/nursery/noMisusedPromises: the framework waits for what its plugins do.
    await app.register(async (files) => {
      // The library declares its own routes; like all others they need a scope to be answered.
      files.addHook("onRoute", (route) => {
        route.config = { ...route.config, scope: "open" };
      });
      await files.register(fastifyStatic, {
        root: folder,
        index: false,
        // The build writes .br and .gz beside each text file.
        preCompressed: true,
        setHeaders: (reply, path) => {
          reply.header("cache-control", hashed.test(path) ? "public, max-age=31536000, immutable" : "no-cache");
        },
      });
    });
  }

  app.get("/", { config: { scope: "open" } }, (_request, reply) => {
    return sendPage(reply);
  });

  app.setNotFoundHandler((request, reply) => {
    const isView = request.method === "GET" && !/^\/(api|v1)\//.test(request.url) && wantsPage(request.headers.accept);
    if (isView) return sendPage(reply);
    const what = `${request.method} ${request.url.split("?")[0]}`;
    return sendRefusal(
      reply,
      new Refusal("route_not_found", `There is no ${what}.`, {
        hint: "/reference lists every route.",
        at: { part: "path" },
      }),
    );
  });
}

function wantsPage(accept: string | undefined): boolean {
  return (accept ?? "").includes("text/html");
}
