import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { OneByOne } from "./one-by-one.ts";

test("work of one name never overlaps, that of another does not wait, and a failure holds up nobody", async () => {
  const turns = new OneByOne();
  const told: string[] = [];
  const work = (name: string, end: () => string) =>
    turns.run(name, async () => {
      told.push(`${name} begins`);
      await turn();
      told.push(`${name} ends`);
      return end();
    });
  const fails = () => {
    throw new Error("no");
  };
  const all = await Promise.allSettled([
    work("a", () => "1"),
    work("a", fails),
    work("b", () => "2"),
    work("a", () => "3"),
  ]);
  expect(all.map((one) => (one.status === "fulfilled" ? one.value : "failed"))).toEqual(["1", "failed", "2", "3"]);
  expect(told.filter((line) => line.startsWith("a"))).toEqual([
    "a begins",
    "a ends",
    "a begins",
    "a ends",
    "a begins",
    "a ends",
  ]);
  expect(told.indexOf("b begins")).toBeLessThan(told.indexOf("a ends"));
});
