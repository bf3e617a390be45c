import { expect, test } from "vitest";
import { Kept } from "./kept.ts";

test("things of every kind share one budget, and what was longest not asked for goes first", () => {
  const kept = new Kept(100);
  const gone: string[] = [];
  const words = kept.shelf<string>("words");
  const numbers = kept.shelf<number>("numbers");
  words.set("a", "A", 40, () => gone.push("a"));
  numbers.set("a", 1, 40, () => gone.push("1"));
  expect(words.get("a")).toBe("A");
  words.set("b", "B", 40, () => gone.push("b"));
  expect([words.get("a"), numbers.get("a"), words.get("b")]).toEqual(["A", undefined, "B"]);
  expect(gone).toEqual(["1"]);
  words.set("b", "B", 60);
  expect([words.get("a"), words.get("b")]).toEqual(["A", "B"]);
});

test("the last thing that was set stays, also when it is too large for everything", () => {
  const kept = new Kept(100);
  const shelf = kept.shelf<string>("s");
  shelf.set("small", "s", 10);
  shelf.set("large", "l", 1000);
  expect([shelf.get("small"), shelf.get("large")]).toEqual([undefined, "l"]);
  shelf.delete("large");
  shelf.set("one", "1", 50);
  shelf.set("two", "2", 50);
  expect([shelf.get("one"), shelf.get("two")]).toEqual(["1", "2"]);
});
