import { expect, test } from "vitest";
import { countPauses } from "#base/turns.testing.ts";
import { atOnce } from "#base/turns.ts";
import { membersInSteps, membersOf, mergeMembers } from "./members.ts";
import type { Texts } from "./texts.ts";

const joined = (steps: Generator<void, Texts>): string => atOnce(steps).join("");

test("values stand as they were written, blanks around them aside", () => {
  const text = '{ "a" : 1e400 ,"b":{"x": [0.10]},"\\u0062":"\\ud800","c":{}}';
  const members = [
    ["a", "1e400"],
    ["b", '"\\ud800"'],
    ["c", "{}"],
  ];
  expect([...membersOf(text)]).toEqual(members);
  expect(membersOf("{}").size).toBe(0);
});

test("members are merged: one that the other object has too is as it is there, and its others follow as they stand", () => {
  const own = new Map([
    ["a", "1"],
    ["b", "null"],
  ]);
  expect(joined(mergeMembers(own, '{"x":0.10,"b":[1],"\\u0079":"é","z":{}}'))).toBe(
    '{"a":1,"b":[1],"x":0.10,"\\u0079":"é","z":{}}',
  );
  expect(joined(mergeMembers(own, ""))).toBe('{"a":1,"b":null}');
  expect(joined(mergeMembers(new Map(), "{}"))).toBe("{}");
});

test("objects of many members or large ones are read and merged with pauses", () => {
  const many = `{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":${i}`).join(",")}}`;
  const large = `{"t":"${"x".repeat(4 << 20)}"}`;
  for (const text of [many, large]) {
    const read = countPauses(membersInSteps(text));
    const merged = countPauses(mergeMembers(read.value, text));
    expect(merged.value.join("")).toBe(text);
    expect(Math.min(read.pauses, merged.pauses)).toBeGreaterThan(10);
  }
});
