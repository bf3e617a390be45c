import { afterEach, expect, it } from "vitest";
import { MemoryWatch } from "./memory-watch.ts";

const mebibyte = 1024 * 1024;
let watch: MemoryWatch | undefined;
afterEach(() => watch?.close());

it("is tight near its budget, and until there is room again", () => {
  let rss = 800 * mebibyte;
  watch = new MemoryWatch(1024 * mebibyte, () => ({ rss, arrayBuffers: 0 }));
  const seen = [800, 900, 850, 820, 850].map((held) => {
    rss = held * mebibyte;
    watch?.look();
    return watch?.isTight;
  });
  expect(seen).toEqual([false, true, true, false, false]);
});

it("collects what passed beside the heap, long before the runtime would", async () => {
  watch = new MemoryWatch(1024 * mebibyte);
  watch.look();
  const before = process.memoryUsage().arrayBuffers;
  for (let at = 0; at < 480; at++) Buffer.alloc(128 * 1024);
  watch.look();
  await expect.poll(() => process.memoryUsage().arrayBuffers - before).toBeLessThan(24 * mebibyte);
});
