import { expect, test } from "vitest";
import { membersOf } from "./members.ts";

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
