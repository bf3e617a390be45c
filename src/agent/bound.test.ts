import { describe, expect, it } from "vitest";
import { cut, fitLists, fitPage, pageOf } from "./bound.ts";
import { ToolMistake } from "./mistake.ts";

const numbers = Array.from({ length: 50 }, (_, at) => at);

describe("a page of a list", () => {
  it("has twenty rows, and the cursors lead through all of them once", () => {
    const seen: number[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page = pageOf(numbers, cursor);
      expect(page.rows.length).toBeLessThanOrEqual(20);
      seen.push(...page.rows);
      cursor = page.next;
    }
    expect(seen).toEqual(numbers);
  });

  it("ends earlier when rows are large, but has one", () => {
    const large = ["a", "b", "c"].map((letter) => letter.repeat(6000));
    expect(pageOf(large, undefined)).toEqual({ rows: [large[0]], next: "1" });
    expect(pageOf(["x".repeat(20_000)], undefined).rows).toHaveLength(1);
  });

  it("refuses a cursor that is none", () => {
    expect(() => pageOf(numbers, "x")).toThrow(ToolMistake);
    expect(pageOf(numbers, "50")).toEqual({ rows: [], next: null });
  });
});

it("asks for fewer rows until they fit", async () => {
  const asked: number[] = [];
  const page = await fitPage(20, async (limit) => {
    asked.push(limit);
    return { rows: numbers.slice(0, limit).map(() => "x".repeat(1500)), next: String(limit) };
  });
  expect(page).toMatchObject({ next: String(page.rows.length) });
  expect(page.rows.length).toBeGreaterThan(3);
  expect(JSON.stringify(page.rows).length).toBeLessThanOrEqual(10_000);
  expect(asked[0]).toBe(20);
});

it("shortens the largest list first, and says how much is left out", () => {
  const fitted = fitLists({ name: "run", few: [1, 2], many: numbers.map(() => "y".repeat(1000)) });
  expect(fitted).toMatchObject({ name: "run", few: [1, 2], left_out: { many: 45 } });
  expect(fitLists({ few: [1, 2] })).toEqual({ few: [1, 2] });
  expect(fitLists({ many: numbers })).toMatchObject({ left_out: { many: 30 } });
});

it("marks a text that was cut", () => {
  expect(cut("abcdef", 3)).toBe("abc… (6 characters)");
  expect(cut("abc", 3)).toBe("abc");
  expect(cut("🙂🙂", 3).isWellFormed()).toBe(true);
});
