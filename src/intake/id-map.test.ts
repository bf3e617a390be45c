import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { IdMap, toIdWords } from "./id-map.ts";

const idOf = (at: number): Uint8Array => Buffer.from(createHash("md5").update(String(at)).digest("hex"));

function load(at: number): void {
  toIdWords(idOf(at));
}

it.each([1, 9, 63, 64, 65, 200, 5000])("knows each of %i ids with its value, and no other", (count) => {
  const map = new IdMap();
  for (let at = 0; at < count; at++) {
    load(at);
    expect(map.getOrSet(at)).toBe(-1);
  }
  expect(map.size).toBe(count);
  for (let at = 0; at < count; at++) {
    load(at);
    expect(map.get()).toBe(at);
    expect(map.getOrSet(7)).toBe(at);
    load(at + count);
    expect(map.get()).toBe(-1);
  }
  load(count - 1);
  map.set(123);
  expect(map.get()).toBe(123);
  expect(map.size).toBe(count);
});

it("takes little for the few lines of a run", () => {
  const map = new IdMap();
  for (let at = 0; at < 8; at++) {
    load(at);
    map.set(0);
  }
  expect(map.byteSize).toBeLessThan(1000);
});
