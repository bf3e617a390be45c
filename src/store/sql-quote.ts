/**
 * A text as an SQL literal, for statements that change data: they take no parameters. NUL is escaped because the
 * engine's C interface ends text at a NUL.
 */
export function quote(text: string): string {
  const escaped = text
    .replaceAll("\\", "\\\\")
    .replaceAll("'", "\\'")
    .replaceAll("\0", "\\0")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r");
  return `'${escaped}'`;
}
