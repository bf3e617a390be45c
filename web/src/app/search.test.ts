import { expect, test } from "vitest";
import { asList, asText, formatSearch, parseSearch } from "./search.ts";

test("lists are repeated names and come back as they went", () => {
  const search = { filter: "status:failed AND lr<1", columns: ["params.lr", "metrics.a/b.last"], none: undefined };
  const text = formatSearch(search);
  expect(text).toBe("?filter=status%3Afailed+AND+lr%3C1&columns=params.lr&columns=metrics.a%2Fb.last");
  expect(parseSearch(text)).toEqual({ filter: search.filter, columns: search.columns });
});

test("an empty search is no question mark", () => {
  expect(formatSearch({ a: "", b: [] })).toBe("");
});

test("reads a single value as a list and a list as a single value", () => {
  expect(asList("a")).toEqual(["a"]);
  expect(asText(["a", "b"])).toBe("a");
  expect(asText("")).toBeUndefined();
});
