import { expect, test } from "vitest";
import { countPauses } from "#base/turns.testing.ts";
import { formatLongText, hasWord, inShortPieces, TextGatherer } from "./texts.ts";

test("a long text is escaped with pauses and stays in pieces", () => {
  const long = 'é"\n𝄞\ud800'.repeat(100_000);
  const { value, pauses } = countPauses(formatLongText(long));
  expect([value.join("") === JSON.stringify(long), pauses > 1, value.length > 1]).toEqual([true, true, true]);
});

test("short parts are put together, and a long one is taken as it is", () => {
  const long = "x".repeat(1 << 20);
  const texts = new TextGatherer();
  for (const part of ["a", ["b", long, "c"], "d"]) texts.add(part);
  const pieces = texts.finish();
  expect(pieces.map((piece) => piece.length)).toEqual([2, long.length, 2]);
  expect([...inShortPieces(pieces)].join("") === `ab${long}cd`).toBe(true);
});

test("each look through a long piece is a step of its own", () => {
  const long = "x".repeat(1 << 20);
  expect(countPauses(hasWord([long, "a NaN", long], "NaN"))).toEqual({ value: true, pauses: 1 });
  expect(countPauses(hasWord([long, "a", long], "NaN"))).toEqual({ value: false, pauses: 2 });
});
