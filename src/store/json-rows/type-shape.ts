// Where floats can be in a value of a ClickHouse type. Of a type only this is kept: whether it is a float, a list or an
// object with floats inside, or something without any.

export type TypeShape =
  | { readonly kind: "plain" }
  | { readonly kind: "float" }
  /** Array, or Tuple without names: `items` repeats its last shape. Written as a JSON array. */
  | { readonly kind: "list"; readonly items: readonly TypeShape[] }
  /** Map, or Tuple with names: values in order, the last shape repeats. Written as a JSON object. */
  | { readonly kind: "object"; readonly items: readonly TypeShape[] };

const plain: TypeShape = { kind: "plain" };
const float: TypeShape = { kind: "float" };
const floatNames: ReadonlySet<string> = new Set(["Float64", "Float32", "BFloat16"]);

export function toShape(type: string): TypeShape {
  const open = type.indexOf("(");
  if (open < 0) return floatNames.has(type) ? float : plain;
  const name = type.slice(0, open);
  const args = splitArgs(type.slice(open + 1, -1));
  switch (name) {
    case "Nullable":
    case "LowCardinality":
      return toShape(args[0] as string);
    case "SimpleAggregateFunction":
      return toShape(args.at(-1) as string);
    case "Array":
      return withFloats({ kind: "list", items: [toShape(args[0] as string)] });
    case "Map":
      return withFloats({ kind: "object", items: [toShape(args[1] as string)] });
    case "Tuple":
    case "Nested":
      return toTuple(name, args);
    default:
      return plain;
  }
}

function toTuple(name: string, args: readonly string[]): TypeShape {
  const parts = args.map(splitName);
  const items = parts.map((part) => toShape(part.type));
  const tuple = withFloats({ kind: parts.every((part) => part.named) ? "object" : "list", items });
  return name === "Nested" ? withFloats({ kind: "list", items: [tuple] }) : tuple;
}

function withFloats(shape: TypeShape & { readonly items: readonly TypeShape[] }): TypeShape {
  return shape.items.some((item) => item.kind !== "plain") ? shape : plain;
}

/** `a Float64`, `` `odd name` Float64 `` or just `Float64`. */
function splitName(arg: string): { readonly named: boolean; readonly type: string } {
  const match = /^(?:`(?:[^`\\]|\\.)*`|[A-Za-z_][A-Za-z0-9_]*) (.+)$/s.exec(arg);
  return match === null ? { named: false, type: arg } : { named: true, type: match[1] as string };
}

/** Splits at the commas that are in no parentheses and no quotes. */
function splitArgs(text: string): string[] {
  const args: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === "'" || char === "`") at = skipQuoted(text, at);
    else if (char === "(") depth++;
    else if (char === ")") depth--;
    else if (char === "," && depth === 0) {
      args.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  args.push(text.slice(start).trim());
  return args;
}

function skipQuoted(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== text[start]) at += text[at] === "\\" ? 2 : 1;
  return at;
}
