// Colours that programs print: the escape codes of terminals, taken out of a line and kept as ranges of classes. The
// text stays text; what a code asks for beyond colour and weight is dropped.

export interface StyledRange {
  readonly from: number;
  readonly to: number;
  /** Class names of logs.css. */
  readonly style: string;
}

export interface StyledText {
  readonly text: string;
  readonly ranges: readonly StyledRange[];
}

const names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what these codes begin with.
const codes = /\u001b(?:\[([0-9;:]*)([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;

const plain = { colour: "", bold: false, faint: false, italic: false, underline: false };
type Pen = typeof plain;

/** What a code changes by itself. */
const changes: Readonly<Record<number, Partial<Pen>>> = {
  ...{ 0: plain, 1: { bold: true }, 2: { faint: true }, 3: { italic: true }, 4: { underline: true } },
  ...{ 22: { bold: false, faint: false }, 23: { italic: false }, 24: { underline: false }, 39: { colour: "" } },
};

export function parseAnsi(line: string): StyledText {
  if (!line.includes("\u001b")) return { text: line, ranges: [] };
  const pen = { ...plain };
  const ranges: StyledRange[] = [];
  let text = "";
  let at = 0;
  const take = (to: number) => {
    const part = line.slice(at, to);
    const style = styleOf(pen);
    if (part !== "" && style !== "") ranges.push({ from: text.length, to: text.length + part.length, style });
    text += part;
  };
  for (const found of line.matchAll(codes)) {
    take(found.index);
    at = found.index + found[0].length;
    if (found[2] === "m") setPen(pen, (found[1] ?? "").split(/[;:]/).map(Number));
  }
  take(line.length);
  return { text, ranges };
}

function styleOf(pen: Pen): string {
  const { colour, ...marks } = pen;
  const words = [colour, ...Object.entries(marks).flatMap(([word, isOn]) => (isOn ? [word] : []))];
  return words.flatMap((word) => (word === "" ? [] : [`ansi-${word}`])).join(" ");
}

function setPen(pen: Pen, numbers: readonly number[]): void {
  for (let i = 0; i < numbers.length; i++) {
    const code = numbers[i] ?? 0;
    Object.assign(pen, changes[code]);
    if (code >= 30 && code <= 37) pen.colour = names[code - 30] ?? "";
    else if (code >= 90 && code <= 97) pen.colour = names[code - 90] ?? "";
    else if (code === 38 || code === 48) {
      const { colour, used } = extended(numbers.slice(i + 1));
      if (code === 38) pen.colour = colour;
      i += used;
    }
  }
}

/** `5;n` of 256 colours or `2;r;g;b`: the nearest of the eight that are readable on both pages. */
function extended(rest: readonly number[]): { colour: string; used: number } {
  const [kind, first = 0, second = 0, third = 0] = rest;
  if (kind === 2) return { colour: nearestName(first, second, third), used: 4 };
  if (kind !== 5) return { colour: "", used: 0 };
  if (first < 16) return { colour: names[first % 8] ?? "", used: 2 };
  if (first >= 232) return { colour: "", used: 2 };
  const cube = first - 16;
  const channel = (n: number) => (n === 0 ? 0 : 55 + n * 40);
  return {
    colour: nearestName(channel(Math.floor(cube / 36)), channel(Math.floor(cube / 6) % 6), channel(cube % 6)),
    used: 2,
  };
}

function nearestName(red: number, green: number, blue: number): string {
  const most = Math.max(red, green, blue);
  // Greys are left to the page.
  if (most - Math.min(red, green, blue) < 40) return "";
  const half = most * 0.6;
  return names[(red > half ? 1 : 0) + (green > half ? 2 : 0) + (blue > half ? 4 : 0)] ?? "";
}
