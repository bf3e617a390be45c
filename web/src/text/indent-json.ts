// JSON text made readable without parsing it: numbers keep every digit, duplicate keys stay.

/** Texts, brackets with nothing between them, single marks, and whatever else stands between blanks. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"?|[[{]\s*[\]}]|[[\]{},:]|[^\s"[\]{},:]+/gs;

export function indentJson(text: string, max = 20_000): string {
  let depth = 0;
  let out = "";
  for (const [token] of text.matchAll(tokens)) {
    if (out.length >= max) break;
    if (token === "}" || token === "]") depth = Math.max(0, depth - 1);
    if (token === "{" || token === "[") depth++;
    const line = `\n${"  ".repeat(depth)}`;
    if (token === "}" || token === "]") out += line + token;
    else if (token === "{" || token === "[" || token === ",") out += token + line;
    else if (token === ":") out += ": ";
    else out += /^[[{]/.test(token) ? token.replace(/\s/g, "") : token;
  }
  return out.length >= max ? `${out.slice(0, max)}…` : out;
}
