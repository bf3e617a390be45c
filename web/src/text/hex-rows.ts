// Bytes as people read them: offset, sixteen bytes, and their ASCII.

export function toHexRows(base64: string, bytesMax: number): string[] {
  const bytes = atob(base64).slice(0, bytesMax);
  const rows: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.slice(at, at + 16)].map((char) => char.charCodeAt(0));
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·")).join("");
    rows.push(`${at.toString(16).padStart(6, "0")}  ${hex.padEnd(47)}  ${text}`);
  }
  return rows;
}
