// docs/api.md: every route, from the contract.

import type { TSchema } from "typebox";
import { paths, type RouteName } from "#api/contract/paths.ts";
import { type RouteSchemas, schemas } from "#api/contract/routes.ts";

const head = `# The HTTP API

The contract is \`src/api/contract\`; the server, the browser application and the command line are made from it. A running
server has it as \`/openapi.json\` and as a page to read at \`/reference\`, with the schema of every body and answer.

- A key goes into \`Authorization: Bearer …\`; see [security.md](security.md) for who needs one. The scope a route needs
  stands beside it.
- Ids and metric keys are single percent-encoded path segments: \`/api/v1/runs/my%2Frun/metrics/train%2Floss\`.
- An integer of 64 bits is a decimal string, whatever its value. A float is a number, and \`"NaN"\`, \`"Infinity"\` or
  \`"-Infinity"\` when it is not finite. Times are nanoseconds since the epoch.
- A list in a query is its name repeated: \`run=a&run=b\`. Pages have \`next\`, which is the \`cursor\` of the next page.
- Answers carry \`as_of\`; \`GET /api/v1/live?after=<as_of>\` goes on from exactly there.
- A refusal is \`{"code", "message", "hint", "at"}\`: a stable word for programs, a sentence, what to do, and where.

This page is written from the contract by \`npm run docs\`.
`;

const titles: readonly (readonly [string, (path: string) => boolean])[] = [
  ["Sending", (path) => path.startsWith("/v1/") || path.startsWith("/api/traces")],
  ["One run", (path) => path.startsWith("/api/v1/runs/")],
  ["Asking", (path) => path.startsWith("/api/v1/")],
  ["The server itself", () => true],
];

export function toApiPage(): string {
  const left = new Set(Object.keys(paths) as RouteName[]);
  const sections = titles.map(([title, belongs]) => {
    const names = [...left].filter((name) => belongs(paths[name].path));
    for (const name of names) left.delete(name);
    return `\n## ${title}\n\n| route | scope | what | query |\n| --- | --- | --- | --- |\n${names.map(toRow).join("")}`;
  });
  return head + sections.join("");
}

function toRow(name: RouteName): string {
  const { method, path, scope, summary } = paths[name];
  const { query }: RouteSchemas = schemas[name];
  const names = Object.keys(((query ?? {}) as TSchema & { properties?: object }).properties ?? {});
  const words = names.map((one) => `\`${one}\``).join(" ");
  return `| \`${method} ${path}\` | ${scope} | ${summary.replaceAll("|", "\\|")} | ${words} |\n`;
}
