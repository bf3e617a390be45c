// docs/api.md: every route, from the contract.

import type { TSchema } from "typebox";
import { IngestQuery } from "#api/contract/ingest.ts";
import { paths, type RouteName } from "#api/contract/paths.ts";
import { type RouteSchemas, schemas } from "#api/contract/routes.ts";

const head = `# The HTTP API

The contract in \`src/api/contract\` defines the API; the server, the web application and the command line are built from it. A
running server offers it as \`/openapi.json\`, and at \`/reference\` as a readable page with the schema of every body and answer.

- Send a key as \`Authorization: Bearer …\`. [security.md](security.md) says who needs one; the tables name each route's scope.
  \`open\` needs no key; \`server\` needs an \`admin\` key of the server's own workspace.
- Ids and metric keys are single percent-encoded path segments: \`/api/v1/runs/my%2Frun/metrics/train%2Floss\`.
- An id or key that is \`.\` or \`..\` gets a \`~\` in front, because browsers and many clients resolve a bare \`..\`:
  \`/api/v1/runs/~..\`. One that already looks like that (\`~.\`, \`~~..\`) gets one more.
- A 64-bit integer is always a decimal string. A float is a number, or \`"NaN"\`, \`"Infinity"\` or \`"-Infinity"\` if it is not
  finite. Times are nanoseconds since the epoch.
- To pass a list in a query, repeat the name: \`run=a&run=b\`. A page's \`next\` is the \`cursor\` of the next page.
- Answers carry \`as_of\`; \`GET /api/v1/live?after=<as_of>\` continues from exactly there.
- A refusal is \`{"code", "message", "hint", "at"}\`: a stable code for programs, a sentence, what to do, and where.

\`npm run docs\` generates this page from the contract.
`;

const readerNames = toNames(IngestQuery).filter((name) => name !== "wait");
const sending = `
\`wait=1\` answers when the rows can be queried. The dots stand for what a program adds that reads a file on behalf of its
writer, as \`tributary import\` does: ${readerNames.map((name) => `\`${name}\``).join(", ")}.
`;

const titles: readonly (readonly [string, (path: string) => boolean, string?])[] = [
  ["Sending", (path) => path.startsWith("/v1/") || path.startsWith("/api/traces"), sending],
  ["One run", (path) => path.startsWith("/api/v1/runs/")],
  ["Asking", (path) => path.startsWith("/api/v1/")],
  ["The server itself", () => true],
];

export function toApiPage(): string {
  const left = new Set(Object.keys(paths) as RouteName[]);
  const sections = titles.map(([title, belongs, about = ""]) => {
    const names = [...left].filter((name) => belongs(paths[name].path));
    for (const name of names) left.delete(name);
    return `\n## ${title}\n${about}\n| route | scope | what | query |\n| --- | --- | --- | --- |\n${names.map(toRow).join("")}`;
  });
  return head + sections.join("");
}

function toRow(name: RouteName): string {
  const { method, path, scope, summary } = paths[name];
  const { query }: RouteSchemas = schemas[name];
  const words =
    query === IngestQuery
      ? "`wait` …"
      : toNames(query)
          .map((one) => `\`${one}\``)
          .join(" ");
  return `| \`${method} ${path}\` | ${scope} | ${summary.replaceAll("|", "\\|")} | ${words} |\n`;
}

function toNames(query: TSchema | undefined): string[] {
  return Object.keys(((query ?? {}) as TSchema & { properties?: object }).properties ?? {});
}
