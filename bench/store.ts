// How fast blocks of metric rows go through the socket into the embedded engine, as the writer sends them: the real
// table with its 22 columns, its summary, its sync to disk and a token. Then what a reader gets back, and how long
// the engine is away when it is killed.
// Usage: node bench/store.ts [--save]   (--save rewrites bench/results/store.md)

import { getPriority } from "node:os";
import { createRows, type Rows } from "#model/tables.ts";
import { createStore } from "#store/client.ts";
import { startEmbedded } from "#store/embedded.ts";
import { encodeBlock } from "#store/native/encode-block.ts";
import { migrate } from "#store/schema/migrate.ts";
import { askStore } from "../tests/support/ask-store.ts";
import { inFolder } from "./support/folder.ts";
import { describeMachine, quantile, whole } from "./support/server.ts";
import { savePage } from "./support/words.ts";

const sizes = [1_000, 10_000, 50_000] as const;
const msEach = 4000;
const startNs = 1_794_710_396_000_000_000n;

/** Rows as four workers of a run would send them: twenty series, a step at a time. */
function makeRows(count: number, first: number): Rows<"metrics"> {
  const rows = createRows("metrics");
  for (let i = first; i < first + count; i++) {
    const step = Math.floor(i / 20);
    rows.group_key.push(`default/x/run-${i % 4}`);
    rows.key.push(`train/metric-${i % 20}`);
    rows.worker.push(`worker-${i % 4}`);
    rows.phase.push("train");
    rows.step.present().pushNumber(step);
    rows.step_text.push("");
    rows.epoch.present().pushNumber(Math.floor(step / 1000));
    rows.ts_ns.pushBigInt(startNs + BigInt(i) * 50_000n);
    rows.value.present().push(Math.fround(4 / Math.sqrt(1 + step / 50) + Math.sin(i * 12.9898) * 0.01));
    rows.value_text.push("");
    rows.source.push("xtrack");
    rows.seq.pushNumber(i);
    rows.entry.push(-1);
    rows.mark_id.push("");
    rows.span_id.push("");
    rows.ctx.push("");
    rows.received_ns.pushBigInt(startNs + BigInt(i) * 50_000n);
    rows.jpos.pushNumber(i >> 6);
    rows.jrow.push(i & 63);
    rows.flags.push(0);
    rows.extra.push("");
    rows.raw.push("");
  }
  return rows;
}

async function measureInserts(dataDir: string): Promise<string[]> {
  const store = await createStore({ kind: "embedded", dataDir });
  await migrate(store);
  const lines: string[] = [];
  let next = 0;
  let token = 0;
  for (const size of sizes) {
    const insertMs: number[] = [];
    const encodeMs: number[] = [];
    const until = performance.now() + msEach;
    while (performance.now() < until || insertMs.length < 5) {
      // The writer's blocks are made of many small parts, one a message.
      const parts = Array.from({ length: 20 }, (_, i) => makeRows(size / 20, next + (i * size) / 20));
      next += size;
      const began = performance.now();
      const block = encodeBlock("metrics", parts);
      const encoded = performance.now();
      await store.insert("metrics", block, { token: `bench-${token++}` });
      encodeMs.push(encoded - began);
      insertMs.push(performance.now() - encoded);
    }
    const [best, median] = [quantile(insertMs, 0), quantile(insertMs, 0.5)];
    const perRow = ((quantile(encodeMs, 0.5) * 1000) / size).toFixed(2);
    const rate = (ms: number): string => whole((size / ms) * 1000);
    lines.push(
      `| ${whole(size)} | ${rate(best)} | ${rate(median)} | ${best.toFixed(1)} | ${median.toFixed(1)} | ${perRow} |`,
    );
  }
  const { tables } = await store.stats();
  const metrics = tables.find(({ table }) => table === "metrics");
  lines.push(
    "",
    `${whole(metrics?.rows ?? 0)} rows took ${((metrics?.bytes ?? 0) / (metrics?.rows ?? 1)).toFixed(1)} bytes each on disk, in ${metrics?.parts} parts.`,
  );
  lines.push(await measureReads(store));
  await store.close();
  return lines;
}

async function measureReads(store: Awaited<ReturnType<typeof createStore>>): Promise<string> {
  const times: number[] = [];
  for (let i = 0; i < 200; i++) {
    const began = performance.now();
    await askStore(store, { sql: "SELECT {x:UInt32} AS x", params: { x: i } });
    times.push(performance.now() - began);
  }
  const began = performance.now();
  let bytes = 0;
  const { chunks } = await store.answer({ sql: "SELECT step, ts_ns, value FROM tributary.metrics LIMIT 500000" });
  for await (const chunk of chunks) bytes += chunk.length;
  const seconds = (performance.now() - began) / 1000;
  return `A small query with a parameter: ${quantile(times, 0.5).toFixed(1)} ms (median of 200). 500,000 points as JSON rows: ${(bytes / 1e6 / seconds).toFixed(0)} MB/s.`;
}

async function measureRestart(dataDir: string): Promise<string> {
  const engine = await startEmbedded({ kind: "embedded", dataDir });
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const began = performance.now();
    process.kill(engine.pid ?? 0, "SIGKILL");
    while (engine.restarts === i) await new Promise((resolve) => setImmediate(resolve));
    await engine.whenReady();
    times.push(performance.now() - began);
  }
  await engine.close();
  return `Killed and back: ${quantile(times, 0).toFixed(0)} ms at best, ${quantile(times, 0.5).toFixed(0)} ms in the middle of five.`;
}

const [inserts, restart] = await inFolder(async (dataDir) => {
  return [await measureInserts(dataDir), await measureRestart(dataDir)] as const;
});
const page = `# Store: inserts, answers, restarts

\`node bench/store.ts\` on ${describeMachine()}
and priority ${getPriority()} (the machine is shared: the best of each row says most).

Metric rows (22 columns) through the engine's socket, with summary, sync to disk and token:

| rows a block | rows/s, best | rows/s, median | ms, best | ms, median | encoding µs/row |
| ---: | ---: | ---: | ---: | ---: | ---: |
${inserts.join("\n")}
${restart}
`;
await savePage("store", page);
