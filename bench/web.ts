// Frame times of the timeline while a person zooms and pans over many spans.
//
//   node bench/web-timeline.ts [spans]        200,000 when not said

import { performance } from "node:perf_hooks";
import { createTestApp } from "../tests/support/app.ts";
import { openBrowser } from "../tests/web/browser.ts";

const spansTotal = Number(process.argv[2] ?? 200_000);
const batchSpans = 20_000;
const run = "bench-timeline";
const startNs = 1_790_000_000_000_000_000n;

const frameCounter = `(() => {
  globalThis.frameTimes = [];
  let before = performance.now();
  const tick = (now) => {
    frameTimes.push(now - before);
    before = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
})()`;

const server = await createTestApp();
const browser = await openBrowser();
try {
  const sentMs = await timed(sendSpans);
  const { page, problems, close } = await browser.visit(`${server.app.url}/runs/${run}/timeline`);
  const shownMs = await timed(() => page.locator(".timeline-summary td").first().waitFor({ timeout: 120_000 }));
  const box = await page.locator(".timeline-canvas").boundingBox();
  if (box === null) throw new Error("the canvas has no box");
  await page.evaluate(frameCounter);
  await page.mouse.move(box.x + 700, box.y + 60);
  for (let i = 0; i < 60; i++) await page.mouse.wheel(0, -80);
  for (let i = 0; i < 60; i++) await page.mouse.wheel(60, 0);
  for (let i = 0; i < 60; i++) await page.mouse.wheel(0, 80);
  const frames = (await page.evaluate<number[]>("globalThis.frameTimes")).sort((a, b) => a - b);
  const at = (share: number) => Math.round((frames[Math.floor((frames.length - 1) * share)] ?? 0) * 10) / 10;
  console.log(
    JSON.stringify({
      spans: spansTotal,
      sent_ms: Math.round(sentMs),
      first_drawn_ms: Math.round(shownMs),
      frames: frames.length,
      frame_p50_ms: at(0.5),
      frame_p95_ms: at(0.95),
      frame_max_ms: at(1),
      problems,
    }),
  );
  await close();
} finally {
  await browser.close();
  await server.remove();
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await act();
  return performance.now() - before;
}

/** Steps of five spans each, as a training loop makes them. */
async function sendSpans(): Promise<void> {
  for (let first = 0; first < spansTotal; first += batchSpans) {
    const spans = Array.from({ length: Math.min(batchSpans, spansTotal - first) }, (_, i) => toSpan(first + i));
    const id = (first / batchSpans).toString(16).padStart(32, "0");
    const head = `{"schema_version":1,"sdk_version":"bench","batch_id":"${id}","created_ns":${startNs}`;
    const body = `${head},"spans":[${spans.join(",")}],"marks":[],"snapshots":[]}`;
    const { status, body: answer } = await server.post(`/v1/runs/${run}/traces`, body);
    if (status !== 202) throw new Error(`refused with ${status}: ${JSON.stringify(answer)}`);
  }
  await server.get("/readyz?drained=1");
}

function toSpan(n: number): string {
  const step = Math.floor(n / 5);
  const part = n % 5;
  const name = ["step", "data_load", "forward", "backward", "optimizer_step"][part];
  const from = startNs + BigInt(step) * 1_000_000n + (part === 0 ? 0n : BigInt(part - 1) * 220_000n);
  const to = part === 0 ? from + 900_000n : from + 200_000n;
  const id = (k: number) => k.toString(16).padStart(32, "0");
  const parent = part === 0 ? "null" : `"${id(step * 5 + 1)}"`;
  return `{"id":"${id(n + 1)}","name":"${name}","parent_id":${parent},"index":${part === 0 ? step : "null"},"start_ns":${from},"end_ns":${to},"cpu_ns":null,"gpu_ns":${part >= 2 ? 180_000 : "null"},"memory_peak_bytes":null,"thread_id":1,"pid":1,"rank":0,"attrs":{},"mark_ids":[]}`;
}
