import { execFileSync } from "node:child_process";
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

it("collects what passed beside the heap, long before the runtime would", () => {
  // In a process of its own: one that has run for long makes its buffers among what is old.
  const script = `import { setTimeout as sleep } from "node:timers/promises";
    import { MemoryWatch } from "${new URL("./memory-watch.ts", import.meta.url).href}";
    const watch = new MemoryWatch(2 ** 30);
    watch.look();
    const before = process.memoryUsage().arrayBuffers;
    const passed = () => process.memoryUsage().arrayBuffers - before;
    for (let at = 0; at < 480; at++) Buffer.alloc(128 * 1024);
    const most = passed();
    watch.look();
    for (let waits = 0; waits < 100 && passed() > most / 2; waits++) await sleep(50);
    console.log(most, passed());`;
  const args = ["--max-semi-space-size=16", "--input-type=module", "-e", script];
  const [most = 0, left = 0] = execFileSync(process.execPath, args, { encoding: "utf8" }).split(" ").map(Number);
  expect(most).toBeGreaterThan(48 * mebibyte);
  expect(left).toBeLessThan(8 * mebibyte);
});
