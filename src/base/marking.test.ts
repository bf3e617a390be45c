import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

/**
 * In a process of its own, whose heap nobody else fills: buffers are held until the runtime marks the whole heap for them, `act`
 * is done, and it goes on until that has ended. Tells whether it was marking before and after, and whether somebody made it end.
 */
function whileMarking(act: string): { during: boolean; after: boolean; forced: boolean } {
  const script = `import { constants, PerformanceObserver } from "node:perf_hooks";
    import { setImmediate as round } from "node:timers/promises";
    import { collectYoung } from "${new URL("./give-back.ts", import.meta.url).href}";
    import { Marking } from "${new URL("./marking.ts", import.meta.url).href}";
    import { MemoryWatch } from "${new URL("../server/collector/memory-watch.ts", import.meta.url).href}";
    import { nextTurn } from "${new URL("./turns.ts", import.meta.url).href}";
    const heap = Array.from({ length: 1_000_000 }, (_, at) => ({ at }));
    const [marking, watched] = [new Marking(), new Marking()];
    const held = [];
    const more = async () => { held.push(Buffer.alloc(1 << 23)); if (held.length > 30) held.length = 0; await round(); };
    while (!marking.isUnderWay) await more();
    const during = marking.isUnderWay;
    const ends = [];
    new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries())
        if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) ends.push(detail.flags);
    }).observe({ entryTypes: ["gc"] });
    const young = () => collectYoung();
    const look = async () => {
      let arrayBuffers = 0;
      const watch = new MemoryWatch(2 ** 40, () => ({ rss: 0, arrayBuffers }), watched);
      watch.look();
      arrayBuffers = 2 ** 30;
      watch.look();
      await nextTurn();
      watch.close();
    };
    ${act};
    while (ends.length === 0 || marking.isUnderWay) await more();
    const forced = (ends[0] & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0;
    console.log(JSON.stringify({ during, after: marking.isUnderWay, forced, size: heap.length }));
    process.exit();`;
  const text = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  return JSON.parse(text) as ReturnType<typeof whileMarking>;
}

it("knows that the runtime marks the heap, and when it has done so", () => {
  expect(whileMarking("")).toMatchObject({ during: true, after: false });
});

it("is there because a collection of the young then becomes one of the whole heap", () => {
  expect(whileMarking("young()")).toMatchObject({ forced: true });
});

it("keeps the watch over memory from that", () => {
  expect(whileMarking("await look()")).toMatchObject({ forced: false });
});
