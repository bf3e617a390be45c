// As much of Helm's templates as the chart uses: values, `if`, `range` over a map, `toYaml`, `quote`, `default`,
// `nindent`, `sha256sum`, and the dashes that eat white space. Anything else is an error, so that the chart stays this simple.

import { createHash } from "node:crypto";
import { stringify } from "yaml";

export type Scope = Readonly<Record<string, unknown>>;

type Node =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "value"; readonly expression: string }
  | { readonly kind: "block"; readonly head: string; readonly body: Node[] };

export function renderTemplate(template: string, scope: Scope): string {
  const eaten = template.replaceAll(/\s*\{\{-/g, "{{").replaceAll(/-\}\}\s*/g, "}}");
  const tokens = eaten.split(/(\{\{.*?\}\})/s);
  return render(parse(tokens, null), scope, scope);
}

function parse(tokens: string[], until: "end" | null): Node[] {
  const nodes: Node[] = [];
  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    const expression = /^\{\{(.*)\}\}$/s.exec(token)?.[1]?.trim();
    if (expression === undefined) nodes.push({ kind: "text", text: token });
    else if (expression === "end") {
      if (until === null) throw new Error("an end without its beginning");
      return nodes;
    } else if (/^(if|range) /.test(expression))
      nodes.push({ kind: "block", head: expression, body: parse(tokens, "end") });
    else nodes.push({ kind: "value", expression });
  }
  if (until !== null) throw new Error("a block without its end");
  return nodes;
}

function render(nodes: readonly Node[], scope: Scope, root: Scope): string {
  return nodes
    .map((node) => {
      if (node.kind === "text") return node.text;
      if (node.kind === "value") return String(evaluate(node.expression, scope, root) ?? "");
      return renderBlock(node.head, node.body, scope, root);
    })
    .join("");
}

function renderBlock(head: string, body: readonly Node[], scope: Scope, root: Scope): string {
  const range = /^range \$(\w+), \$(\w+) := (.+)$/.exec(head);
  if (range === null) return evaluate(head.slice(3), scope, root) ? render(body, scope, root) : "";
  const [, key = "", value = "", from = ""] = range;
  const entries = Object.entries(evaluate(from, scope, root) as object).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries
    .map(([name, item]) => render(body, { ...scope, [`$${key}`]: name, [`$${value}`]: item }, root))
    .join("");
}

function evaluate(expression: string, scope: Scope, root: Scope): unknown {
  const [first = "", ...pipes] = expression.split("|").map((part) => part.trim());
  return pipes.reduce((value, pipe) => apply(pipe, value, scope, root), toValue(first, scope, root));
}

function apply(pipe: string, value: unknown, scope: Scope, root: Scope): unknown {
  const [name = "", argument = ""] = pipe.split(/\s+/);
  if (name === "quote") return JSON.stringify(String(value));
  if (name === "default") return value === "" || value === undefined ? toValue(argument, scope, root) : value;
  if (name === "nindent") return `\n${String(value).replaceAll(/^/gm, " ".repeat(Number(argument)))}`;
  if (name === "sha256sum") return createHash("sha256").update(String(value)).digest("hex");
  throw new Error(`the chart may not use ${name}`);
}

function toValue(text: string, scope: Scope, root: Scope): unknown {
  if (text.startsWith("toYaml ")) return stringify(toValue(text.slice(7), scope, root)).trimEnd();
  if (/^\$\w/.test(text)) return scope[text];
  if (!/^\$?(\.\w+)+$/.test(text)) throw new Error(`the chart may not use ${text}`);
  const names = text.replace(/^\$?\./, "").split(".");
  const found = names.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], root);
  if (found === undefined) throw new Error(`there is no ${text}`);
  return found;
}
