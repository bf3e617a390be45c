import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

const giveBack = new URL("./give-back.ts", import.meta.url).href;
const memoryWatch = new URL("../server/collector/memory-watch.ts", import.meta.url).href;

/** In a process of its own, whose heap nobody else fills. */
function run(script: string): unknown {
  const text = `import { constants, PerformanceObserver } from "node:perf_hooks";
    import { setImmediate as round } from "node:timers/promises";
    ${script}`;
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", text], { encoding: "utf8" }));
}

const countCollections = `const seen = { begun: 0, ended: 0, forced: 0 };
  new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries()) {
      if (detail.kind === constants.NODE_PERFORMANCE_GC_INCREMENTAL) seen.begun++;
      if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) seen.ended++;
      if ((detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0) seen.forced++;
    }
  }).observe({ entryTypes: ["gc"] });`;

it("returns pages of the heap that hold little any more", () => {
  const [full, left] = run(`import { giveBackMemory } from "${giveBack}";
    const made = Array.from({ length: 1_000_000 }, (_, at) => ({ at, text: "text " + at }));
    const kept = made.filter((_, at) => at % 50 === 0);
    made.length = 0;
    const full = process.memoryUsage().heapTotal;
    giveBackMemory();
    console.log(JSON.stringify([full, process.memoryUsage().heapTotal, kept.length]));`) as [number, number];
  expect(left).toBeLessThan(full / 3);
});

it("has the heap collected beside the program, with nobody forced to wait for it", () => {
  const seen = run(`import { collectBeside } from "${giveBack}";
    const kept = Array.from({ length: 1_000_000 }, (_, at) => ({ at }));
    ${countCollections}
    for (let rounds = 0; rounds < 20; rounds++) await round();
    seen.begun = seen.ended = 0;
    collectBeside();
    while (seen.begun === 0 || seen.ended === 0) await round();
    console.log(JSON.stringify({ ...seen, kept: kept.length }));
    process.exit();`);
  expect(seen).toMatchObject({ begun: 1, ended: 1, forced: 0 });
});

it("is asked for that by the watch over memory, from three quarters of the budget on and after it has grown", () => {
  const seen = run(`import { MemoryWatch } from "${memoryWatch}";
    ${countCollections}
    for (let rounds = 0; rounds < 20; rounds++) await round();
    seen.begun = 0;
    let rss = 800;
    const watch = new MemoryWatch(1000, () => ({ rss, arrayBuffers: 0 }));
    const below = [];
    for (rss of [800, 800, 500, 700, 740]) {
      watch.look();
      for (let rounds = 0; rounds < 20; rounds++) await round();
      below.push(seen.begun);
    }
    rss = 800;
    watch.look();
    watch.look();
    while (seen.begun === 0) await round();
    for (let rounds = 0; rounds < 20; rounds++) await round();
    console.log(JSON.stringify({ below, above: seen.begun, forced: seen.forced }));
    process.exit();`);
  expect(seen).toEqual({ below: [0, 0, 0, 0, 0], above: 1, forced: 0 });
});
