import { describe, expect, it } from "vitest";
import { address, addressOrOff, age, agesByName, bytes, count, duration, flag, list, url } from "./kinds.ts";

describe("the kinds of setting", () => {
  it.each([
    ["64 MiB", 64 * 2 ** 20],
    ["1.5KB", 1500],
    ["10", 10],
    [4096, 4096],
    ["1 gib", 2 ** 30],
    ["-1", undefined],
    ["MiB", undefined],
    [1.5, undefined],
    [true, undefined],
  ])("reads the size %j as %j", (input, value) => expect(bytes.read(input)).toBe(value));

  it.each([
    ["500ms", 500],
    ["10 s", 10_000],
    ["10m", 600_000],
    ["24h", 86_400_000],
    ["30d", 30 * 86_400_000],
    ["10", undefined],
    [10, undefined],
    ["1 year", undefined],
  ])("reads the time %j as %j", (input, value) => expect(duration.read(input)).toBe(value));

  it.each([
    ["127.0.0.1:7077", { host: "127.0.0.1", port: 7077 }],
    ["[::1]:80", { host: "::1", port: 80 }],
    ["localhost:0", { host: "localhost", port: 0 }],
    ["localhost", undefined],
    ["::1:80", undefined],
    ["a:70000", undefined],
    [7077, undefined],
  ])("reads the address %j as %j", (input, value) => expect(address.read(input)).toEqual(value));

  it("lets a listener be switched off where that is allowed", () => {
    expect(addressOrOff.read("off")).toBe("off");
    expect(address.read("off")).toBeUndefined();
  });

  it("reads flags, counts, lists and URLs, and nothing that only looks like one", () => {
    expect([flag.read("true"), flag.read(false), flag.read("yes")]).toEqual([true, false, undefined]);
    expect([count.read("12"), count.read(3), count.read("1e3"), count.read(-1)]).toEqual([12, 3, undefined, undefined]);
    expect([list.read(["a", "b"]), list.read("a,b,"), list.read([1])]).toEqual([["a", "b"], ["a", "b"], undefined]);
    expect([url.read("http://a/"), url.read(""), url.read("a b")]).toEqual(["http://a", "", undefined]);
  });

  it("reads ages, of which none is nothing", () => {
    expect([age.read("30d"), age.read("off"), age.read("0d"), age.read(0)]).toEqual([
      2_592_000_000,
      "off",
      undefined,
      undefined,
    ]);
    expect(agesByName.read("a=1d,b=off")).toEqual({ a: 86_400_000, b: "off" });
    expect([agesByName.read("a=0s"), agesByName.read({ a: "soon" })]).toEqual([undefined, undefined]);
  });
});
