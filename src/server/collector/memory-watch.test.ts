import { execFileSync } from "node:child_process";
import { constants, PerformanceObserver } from "node:perf_hooks";
import { afterEach, expect, it } from "vitest";
import { nextTurn } from "#base/turns.ts";
import { MemoryWatch } from "./memory-watch.ts";

const mebibyte = 1024 * 1024;
let watch: MemoryWatch | undefined;
afterEach(() => watch?.close());

it("is strained near its budget, and more where it is nearly reached, and until there is room again", () => {
  let rss = 800 * mebibyte;
  watch = new MemoryWatch(1024 * mebibyte, () => ({ rss, arrayBuffers: 0 }));
  const seen = [800, 900, 850, 820, 850, 940, 910, 890, 940, 820].map((held) => {
    rss = held * mebibyte;
    watch?.look();
    return watch?.strain;
  });
  expect(seen).toEqual(["none", "tight", "tight", "none", "none", "full", "full", "tight", "full", "none"]);
});

it("collects the young when buffers have grown, before the runtime looks through the whole heap for them and not while it does", async () => {
  let arrayBuffers = 100 * mebibyte;
  // The tests beside this one may fill the heap.
  const marking = { isUnderWay: false, close: () => undefined };
  const held = new MemoryWatch(1024 * mebibyte, () => ({ rss: 0, arrayBuffers }), marking);
  watch = held;
  const collections: number[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { flags } = (entry as unknown as { detail: { flags: number } }).detail;
      if ((flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0) collections.push(entry.startTime);
    }
  });
  observer.observe({ entryTypes: ["gc"] });
  const collectedIn = async (grownBytes: number): Promise<boolean> => {
    arrayBuffers += grownBytes;
    const from = performance.now();
    held.look();
    await nextTurn();
    const until = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 50));
    return collections.some((at) => at >= from && at <= until);
  };
  held.look();
  expect(await collectedIn(20 * mebibyte)).toBe(false);
  expect(await collectedIn(5 * mebibyte)).toBe(true);
  expect(await collectedIn(20 * mebibyte)).toBe(false);
  marking.isUnderWay = true;
  expect(await collectedIn(20 * mebibyte)).toBe(false);
  marking.isUnderWay = false;
  expect(await collectedIn(0)).toBe(true);
  observer.disconnect();
});

it("goes on when the process has no file left to ask the system with", () => {
  const script = `import { openSync } from "node:fs";
    import { MemoryWatch } from "${new URL("./memory-watch.ts", import.meta.url).href}";
    const watch = new MemoryWatch(1);
    try { for (;;) openSync("/dev/null"); } catch {}
    watch.look();
    console.log(watch.strain);`;
  const command = `ulimit -n 64; exec "${process.execPath}" --input-type=module -e '${script}'`;
  expect(execFileSync("sh", ["-c", command], { encoding: "utf8" })).toBe("none\n");
});
