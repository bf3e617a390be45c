import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FieldRef } from "./field.ts";
import { type Filter, parseFilter } from "./filter.ts";
import { type FieldValue, like, toPredicate } from "./match.ts";

function parsed(text: string): Filter {
  const result = parseFilter(text);
  if (!result.ok || result.filter === null) throw new Error(`no filter in ${text}`);
  return result.filter;
}

const run: Record<string, FieldValue[]> = {
  status: [{ text: "failed", num: null }],
  tags: [
    { text: "baseline", num: null },
    { text: "team=vision", num: null },
  ],
  "params.lr": [{ text: "0.003", num: 0.003 }],
  "metrics.val/loss.last": [{ text: "NaN", num: Number.NaN }],
  start: [{ text: "1794710396768536383", num: Number(1794710396768536383n) }],
  "params.seed": [{ text: "9007199254740993", num: 9007199254740992 }],
  duration: [{ text: "14200000000", num: 14.2e9 }],
};

function isMatch(text: string): boolean {
  const readerOf = (field: FieldRef) => () => run[field.text] ?? [];
  const source = { readerOf, wordsOf: () => ["gpt-w256", "sweep"] };
  return toPredicate(parsed(text), source, 1794710400000000000n)(null);
}

describe("the filter language", () => {
  test.each([
    ["status:failed AND params.lr<0.01", true],
    ["status:failed params.lr>0.01", false],
    ["NOT status:completed", true],
    ["status:completed OR (tags:baseline AND params.lr=0.003)", true],
    ["metrics.val/loss.last=NaN", true],
    ["metrics.val/loss.last<2", false],
    ["W256", true],
    ['"team=vision"', false],
    ['tags:"team=vision"', true],
    ["status~fail", true],
    ["status:f*d", true],
    ["duration>14s duration<1m", true],
    ["start>-1h", true],
    ["start>2026-11-15T02:39:00Z", true],
    ["start<2026-11-15T02:39:00Z", false],
    ['status=="failed" NOT status=="f*"', true],
    ["start==1794710396768536383", true],
    ["start==1794710396768536384", false],
    ['tags==baseline NOT tags=="team=vision"', true],
    ['params.missing==""', true],
    ['params.lr==""', false],
    ["params.missing=1", false],
    ["params.missing!=1", true],
    ["not not status:failed", true],
    // A double holds none of these exactly.
    ["params.seed=9007199254740993", true],
    ["params.seed=9007199254740992", false],
    ["params.seed!=9007199254740992", true],
    ["params.seed>9007199254740992", true],
    ["params.seed<=9007199254740992", false],
    ["params.seed>=9007199254740993", true],
    ["params.seed<9007199254740994", true],
    ["params.seed<9007199254740993", false],
    ["params.seed>9.007199254740991e15", true],
    ["params.seed=9.007199254740992e15", true],
    ["start=1794710396768536383", true],
    ["start=1794710396768536384", false],
    ["start<1794710396768536384", true],
  ])("%s is %s", (text, expected) => {
    expect(isMatch(text)).toBe(expected);
  });

  test.each([
    ["status:", 6, "Expected a value"],
    ["(status:failed", 0, "never closed"],
    ["status:faild", 7, "There is no status"],
    ["name:x AND status!=crashed", 19, "completed, failed"],
    ['name:"abc', 5, "quote is never closed"],
    ["colour:red", 0, 'no field "colour"'],
    ["AND status:failed", 0, "needs a test"],
    ["status:failed )", 14, "Expected AND, OR"],
    ["status:failed OR", 16, "found the end"],
  ])("points at the mistake in %s", (text, offset, message) => {
    const result = parseFilter(text);
    expect(result.ok).toBe(false);
    if (result.ok) return;
    expect(result.mistake.message).toContain(message);
    expect(result.mistake.offset).toBe(text === "status:" ? 6 : offset);
  });

  test("an empty filter matches everything", () => {
    expect(parseFilter("  ")).toEqual({ ok: true, filter: null });
  });

  test("refuses a filter that is nested without end", () => {
    const result = parseFilter(`${"(".repeat(100000)}status:failed`);
    expect(result.ok).toBe(false);
  });

  test("never throws, whatever it is given", () => {
    fc.assert(fc.property(fc.string(), (text) => typeof parseFilter(text).ok === "boolean"));
    const parts = fc.constantFrom("(", ")", "AND", "OR", "NOT", "status:failed", "x", '"', "params.a<1", "~", "a:b");
    fc.assert(fc.property(fc.array(parts), (words) => typeof parseFilter(words.join(" ")).ok === "boolean"));
  });

  test("matches patterns in linear time", () => {
    expect(like("a".repeat(50000), `${"a*".repeat(200)}b`)).toBe(false);
    expect(like("resnet-50-final", "res*50*final")).toBe(true);
  });
});
