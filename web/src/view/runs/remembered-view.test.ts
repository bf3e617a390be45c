import { expect, test } from "vitest";
import { parseViews } from "./remembered-view.ts";

test("reads saved views, and nothing out of what is none", () => {
  expect(parseViews('[{"name":"mine","search":"?filter=a"},{"name":1},null,"x"]')).toEqual([
    { name: "mine", search: "?filter=a" },
  ]);
  expect(parseViews("{")).toEqual([]);
  expect(parseViews('{"name":"mine"}')).toEqual([]);
});
