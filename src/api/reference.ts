// The contract as a page to read, without a script: every route, what it takes and what it answers.

import type { TSchema } from "typebox";
import { paths, type RouteName } from "./contract/paths.ts";
import { type RouteSchemas, schemas } from "./contract/routes.ts";

const style = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}pre{background:#8881;padding:.75rem;overflow:auto;border-radius:4px}
h2{margin-top:2.5rem;border-top:1px solid #8884;padding-top:1rem;font-size:1.05rem}table{border-collapse:collapse}
td,th{text-align:left;padding:.15rem .8rem .15rem 0;vertical-align:top}summary{cursor:pointer}nav{columns:2}`;

export function toReferencePage(): string {
  const names = Object.keys(paths) as RouteName[];
  const links = names.map((name) => `<a href="#${name}"><code>${escapeHtml(toTitle(name))}</code></a><br>`);
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Tributary: the API</title><style>${style}</style>
<h1>The API</h1>
<p>Every route of this server; the same as <a href="/openapi.json">OpenAPI</a>. A key goes into
<code>Authorization: Bearer …</code>. An integer of 64 bits is a decimal string, a float that is not finite is
<code>"NaN"</code>, <code>"Infinity"</code> or <code>"-Infinity"</code>, times are nanoseconds since the epoch. A refusal is
<code>{"code", "message", "hint", "at"}</code>.</p>
<nav>${links.join("\n")}</nav>
${names.map(toSection).join("\n")}
</html>
`;
}

function toTitle(name: RouteName): string {
  return `${paths[name].method} ${paths[name].path}`;
}

function toSection(name: RouteName): string {
  const { scope, summary } = paths[name];
  const route: RouteSchemas = schemas[name];
  const needs = scope === "open" ? "Needs no key." : `Scope <code>${scope}</code>.`;
  return [
    `<h2 id="${name}"><code>${escapeHtml(toTitle(name))}</code></h2>`,
    `<p>${escapeHtml(summary)} ${needs}</p>`,
    toTable("Path", route.params),
    toTable("Query", route.query),
    toSchema("Body", route.body),
    route.bodyMedia ? `<p>Body: ${route.bodyMedia.map((type) => `<code>${type}</code>`).join(", ")}</p>` : "",
    toSchema(`Answer ${route.status ?? 200}`, route.answer),
    route.media ? `<p>Answer: ${route.media.map((type) => `<code>${type}</code>`).join(", ")}</p>` : "",
  ]
    .filter((part) => part !== "")
    .join("\n");
}

interface Property {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly description?: string;
}

function toTable(title: string, schema: TSchema | undefined): string {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Property>;
    required?: string[];
  };
  const rows = Object.entries(properties).map(([name, { type, enum: words, description }]) => {
    const kind = words ? words.join(" | ") : (type ?? "");
    const need = required.includes(name) ? "" : "optional ";
    return `<tr><td><code>${escapeHtml(name)}</code><td>${need}${escapeHtml(kind)}<td>${escapeHtml(description ?? "")}`;
  });
  return rows.length === 0 ? "" : `<table><tr><th>${title}<th><th>${rows.join("")}</table>`;
}

function toSchema(title: string, schema: TSchema | undefined): string {
  if (!schema) return "";
  return `<details><summary>${title}</summary><pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre></details>`;
}

function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (letter) => names[letter] ?? letter);
}
