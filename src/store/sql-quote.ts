/** A statement that changes data takes no parameters, so texts are written as literals. */
export function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
