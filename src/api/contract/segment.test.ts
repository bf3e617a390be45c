import { expect, test } from "vitest";
import { fromSegment, toSegment } from "./segment.ts";

const names = [".", "..", "~.", "~..", "~~..", "...", "~", "~x", "a/b", "train/loss", "%2e%2e", "ü ☃", ".x", "..."];

test("every name is a segment that an address keeps, and is read back", () => {
  for (const name of names) {
    const { pathname } = new URL(`http://server/api/v1/runs/${toSegment(name)}/logs`);
    const segment = pathname.split("/")[4] ?? "";
    expect([name, pathname.split("/").length, fromSegment(decodeURIComponent(segment))]).toEqual([name, 6, name]);
  }
});

test("names other than dots stand there as they always did", () => {
  for (const name of names.filter((one) => !/^~*\.{1,2}$/.test(one)))
    expect([toSegment(name), fromSegment(name)]).toEqual([encodeURIComponent(name), name]);
});
