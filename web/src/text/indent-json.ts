// JSON text made readable without parsing it: numbers keep every digit, duplicate keys stay.

export function indentJson(text: string, max = 20_000): string {
  let depth = 0;
  let out = "";
  let inside = false;
  for (let i = 0; i < text.length && out.length < max; i++) {
    const char = text[i] ?? "";
    if (inside) {
      out += char;
      if (char === "\\") out += text[++i] ?? "";
      else if (char === '"') inside = false;
      continue;
    }
    switch (char) {
      case '"':
        inside = true;
        out += char;
        break;
      case "{":
      case "[": {
        const close = nextInk(text, i + 1);
        if (text[close] === "}" || text[close] === "]") {
          out += char + text[close];
          i = close;
        } else out += `${char}\n${"  ".repeat(++depth)}`;
        break;
      }
      case "}":
      case "]":
        out += `\n${"  ".repeat(Math.max(0, --depth))}${char}`;
        break;
      case ",":
        out += `,\n${"  ".repeat(depth)}`;
        break;
      case ":":
        out += ": ";
        break;
      case " ":
      case "\n":
      case "\t":
      case "\r":
        break;
      default:
        out += char;
    }
  }
  return out.length >= max ? `${out}…` : out;
}

function nextInk(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text[at] ?? "")) at++;
  return at;
}
