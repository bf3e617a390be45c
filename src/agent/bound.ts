// Answers stay small: a model pays for every byte, and clients cut off what is too long. About twenty rows and ten
// kilobytes, with a cursor for the rest.

import { ToolMistake } from "./mistake.ts";

export const rowsMax = 20;
const bytesMax = 10_000;

export interface Page<R> {
  readonly rows: R[];
  readonly next: string | null;
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "");
}

/** A page of a list in memory; its cursor is a position in the list. */
export function pageOf<R>(all: readonly R[], cursor: string | undefined, limit: number = rowsMax): Page<R> {
  if (!/^\d{1,9}$/.test(cursor ?? "0")) throw new ToolMistake("cursor must be `next` of the answer before, unchanged.");
  const from = Number(cursor ?? "0");
  const rows: R[] = [];
  let bytes = 0;
  for (const row of all.slice(from, from + limit)) {
    bytes += sizeOf(row) + 1;
    if (bytes > bytesMax && rows.length > 0) break;
    rows.push(row);
  }
  const end = from + rows.length;
  return { rows, next: end < all.length ? String(end) : null };
}

/** A page of a list that the API pages itself. If the rows are too large, fewer are asked for. */
export async function fitPage<R>(limit: number, ask: (limit: number) => Promise<Page<R>>): Promise<Page<R>> {
  let rows = limit;
  for (;;) {
    const page = await ask(rows);
    const bytes = sizeOf(page.rows);
    if (bytes <= bytesMax || rows === 1) return page;
    rows = Math.max(1, Math.min(rows - 1, Math.floor((rows * bytesMax) / bytes)));
  }
}

/** Halves the largest of the lists until all fits, and says how many elements of each were left out. */
export function fitLists(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const fitted: Record<string, unknown> = { ...data };
  const lists = Object.keys(data).filter((name) => Array.isArray(data[name]));
  const full = new Map(lists.map((name) => [name, (data[name] as unknown[]).length]));
  for (const name of lists) fitted[name] = (data[name] as unknown[]).slice(0, rowsMax);
  while (sizeOf(fitted) > bytesMax) {
    const largest = lists
      .filter((name) => (fitted[name] as unknown[]).length > 1)
      .sort((a, b) => sizeOf(fitted[b]) - sizeOf(fitted[a]))[0];
    if (largest === undefined) break;
    const list = fitted[largest] as unknown[];
    fitted[largest] = list.slice(0, Math.floor(list.length / 2));
  }
  const leftOut = lists.flatMap((name) => {
    const missing = (full.get(name) ?? 0) - (fitted[name] as unknown[]).length;
    return missing > 0 ? [[name, missing] as const] : [];
  });
  return leftOut.length === 0 ? fitted : { ...fitted, left_out: Object.fromEntries(leftOut) };
}

/** The beginning of a text, marked when it is not all. */
export function cut(text: string, chars = 300): string {
  return text.length <= chars ? text : `${text.slice(0, chars).toWellFormed()}… (${text.length} characters)`;
}

/** Every text in a value cut. */
export function cutAll(value: unknown, chars: number): unknown {
  if (typeof value === "string") return cut(value, chars);
  if (Array.isArray(value)) return value.map((one) => cutAll(one, chars));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cutAll(one, chars)]));
}
