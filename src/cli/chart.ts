// Small charts in a terminal: a sparkline of one row, and a line chart in braille dots, eight to a character.

const bars = "▁▂▃▄▅▆▇█";

type Values = readonly (number | null)[];

function extremes(values: Values): { min: number; max: number } | undefined {
  const finite = values.filter((value): value is number => value !== null && Number.isFinite(value));
  if (finite.length === 0) return undefined;
  return { min: finite.reduce((a, b) => Math.min(a, b)), max: finite.reduce((a, b) => Math.max(a, b)) };
}

/** One character per value; missing and non-finite values are shown as such. */
export function formatSparkline(values: Values): string {
  const range = extremes(values);
  return values
    .map((value) => {
      if (value === null) return " ";
      if (!Number.isFinite(value) || !range) return "×";
      const part = range.max === range.min ? 0.5 : (value - range.min) / (range.max - range.min);
      return bars[Math.min(bars.length - 1, Math.floor(part * bars.length))];
    })
    .join("");
}

// Bits of the dots in a braille character, by column and row from the top.
const dots = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

/** Lines of text, `height` characters high; each value is a band from its least to its greatest. */
export function formatChart(low: Values, high: Values, width: number, height: number): string[] {
  const range = extremes([...low, ...high]);
  const cells = Array.from({ length: height }, () => new Array<number>(width).fill(0));
  if (range) {
    const rows = height * 4;
    const span = range.max - range.min || 1;
    const toRow = (value: number) => Math.round(((range.max - value) / span) * (rows - 1));
    for (let x = 0; x < width * 2; x++) {
      const at = Math.floor((x * high.length) / (width * 2));
      const top = high[at];
      const bottom = low[at];
      if (top == null || bottom == null || !Number.isFinite(top) || !Number.isFinite(bottom)) continue;
      for (let y = toRow(top); y <= toRow(bottom); y++) {
        const row = cells[y >> 2];
        if (row) row[x >> 1] = (row[x >> 1] ?? 0) | (dots[x & 1]?.[y & 3] ?? 0);
      }
    }
  }
  return cells.map((row) => row.map((bits) => String.fromCodePoint(0x2800 + bits)).join(""));
}
