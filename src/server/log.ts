// Structured logs: JSON lines for machines, short lines for people on a terminal. Keys and cookies are never written.

import { styleText } from "node:util";
import { pino } from "pino";

export type Log = pino.Logger;

export interface LogOptions {
  readonly level: "debug" | "info" | "warn" | "error" | "silent";
  readonly format: "auto" | "json" | "text";
  /** Where lines go, standard error unless a test says otherwise. */
  readonly stream?: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

const redact = {
  paths: ["key", "password", "secret", "authorization", "cookie", "*.key", "*.password", "*.authorization", "*.cookie"],
  censor: "…",
};

export function createLog({ level, format, stream = process.stderr }: LogOptions): Log {
  const text = format === "text" || (format === "auto" && stream.isTTY === true);
  const options: pino.LoggerOptions = {
    level,
    redact,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  const colours = text && stream.isTTY === true && process.env["NO_COLOR"] === undefined;
  return pino(options, text ? { write: (line: string) => stream.write(formatLine(line, colours)) } : stream);
}

const levelColours = {
  error: "red",
  warn: "yellow",
  info: "green",
  debug: "blue",
  fatal: "red",
  trace: "blue",
} as const;

/** `05:24:37 info  message  key=value`, with an error's stack on lines of its own. */
export function formatLine(line: string, colours: boolean): string {
  const { level, time, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const paint = (colour: Parameters<typeof styleText>[0], text: string) =>
    colours ? styleText(colour, text, { validateStream: false }) : text;
  const word = String(level);
  const parts = [
    paint("dim", String(time).slice(11, 19)),
    paint(levelColours[word as keyof typeof levelColours] ?? "white", word.padEnd(5)),
    String(msg ?? ""),
    ...Object.entries(rest).map(([key, value]) => paint("dim", `${key}=${formatValue(value)}`)),
  ];
  const stack = (err as { stack?: string } | undefined)?.stack;
  return `${parts.join(" ")}\n${stack === undefined ? "" : `${stack}\n`}`;
}

function formatValue(value: unknown): string {
  return typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}
