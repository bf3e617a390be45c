// A person zooms into a timeline of many spans, drags through it and zooms out again, while every frame is timed.

import type { Page, Request } from "playwright-core";
import type { TestApp } from "../support/app.ts";
import { drained } from "./sample.ts";
import { boxOf } from "./walking.ts";

const batchSpans = 20_000;
const startNs = 1_790_000_000_000_000_000n;
const stepNs = 1_000_000;
const spansAStep = 5;
const wheelDelta = 80;
/** What one turn of the wheel leaves of the window; the canvas has the same number. */
const zoomOfWheel = Math.exp(-wheelDelta * 0.0022);
const deepestNs = 5 * stepNs;
/** Longer than the page waits before it asks for what a move has shown. */
const restMs = 400;

export interface WalkPart {
  readonly name: "zoom in" | "drag" | "zoom out";
  /** Milliseconds between frames, ascending. */
  readonly framesMs: readonly number[];
  /** Spans in the window and boxes drawn at the end of the part. */
  readonly spans: number;
  readonly drawn: number;
}

/** Steps of five spans each, as a training loop makes them. */
export async function sendSteps(server: TestApp, run: string, spansTotal: number): Promise<void> {
  for (let first = 0; first < spansTotal; first += batchSpans) {
    const spans = Array.from({ length: Math.min(batchSpans, spansTotal - first) }, (_, i) => toSpan(first + i));
    const id = (first / batchSpans).toString(16).padStart(32, "0");
    const head = `{"schema_version":1,"sdk_version":"walk","batch_id":"${id}","created_ns":${startNs}`;
    const body = `${head},"spans":[${spans.join(",")}],"marks":[],"snapshots":[]}`;
    const { status, body: answer } = await server.post(`/v1/runs/${run}/traces`, body);
    if (status !== 202) throw new Error(`refused with ${status}: ${JSON.stringify(answer)}`);
  }
  await drained(server);
}

function toSpan(n: number): string {
  const step = Math.floor(n / spansAStep);
  const part = n % spansAStep;
  const name = ["step", "data_load", "forward", "backward", "optimizer_step"][part];
  const from = startNs + BigInt(step) * BigInt(stepNs) + (part === 0 ? 0n : BigInt(part - 1) * 220_000n);
  const to = part === 0 ? from + 900_000n : from + 200_000n;
  const id = (k: number) => k.toString(16).padStart(32, "0");
  const parent = part === 0 ? "null" : `"${id(step * spansAStep + 1)}"`;
  return `{"id":"${id(n + 1)}","name":"${name}","parent_id":${parent},"index":${part === 0 ? step : "null"},"start_ns":${from},"end_ns":${to},"cpu_ns":null,"gpu_ns":${part >= 2 ? 180_000 : "null"},"memory_peak_bytes":null,"thread_id":1,"pid":1,"rank":0,"attrs":{},"mark_ids":[]}`;
}

/** Opened on the timeline of `spansTotal` spans of `sendSteps`. */
export async function walkTimeline(page: Page, spansTotal: number): Promise<WalkPart[]> {
  const box = await boxOf(page.locator(".timeline-canvas"));
  const at = { x: box.x + box.width * 0.6, y: box.y + 60 };
  const open = watchRequests(page);
  await page.evaluate(frameTimer);
  await page.mouse.move(at.x, at.y);
  const wheels = Math.ceil(Math.log(deepestNs / ((spansTotal / spansAStep) * stepNs)) / Math.log(zoomOfWheel));
  const turn = async (delta: number) => {
    for (let i = 0; i < wheels; i++) await page.mouse.wheel(0, delta);
  };
  const parts = [await timed(page, open, "zoom in", () => turn(-wheelDelta))];
  parts.push(
    await timed(page, open, "drag", async () => {
      for (let round = 0; round < 6; round++) {
        await page.mouse.move(at.x, at.y);
        await page.mouse.down();
        for (let i = 1; i <= 15; i++) await page.mouse.move(at.x - i * 24, at.y);
        await page.mouse.up();
      }
    }),
  );
  // A little more than needed: the whole run is the end of zooming out.
  parts.push(await timed(page, open, "zoom out", () => turn(wheelDelta * 1.2)));
  return parts;
}

/** The requests that have no answer yet; the live stream never ends and does not count. */
function watchRequests(page: Page): ReadonlySet<Request> {
  const open = new Set<Request>();
  page.on("request", (request) => {
    if (!request.url().includes("/live")) open.add(request);
  });
  page.on("requestfinished", (request) => open.delete(request));
  page.on("requestfailed", (request) => open.delete(request));
  return open;
}

async function timed(
  page: Page,
  open: ReadonlySet<Request>,
  name: WalkPart["name"],
  act: () => Promise<void>,
): Promise<WalkPart> {
  await page.evaluate("globalThis.frameTimes.length = 0");
  await act();
  // The answers that the move asked for are part of it: reading them must not stop the frames either.
  await page.waitForTimeout(restMs);
  while (open.size > 0) await page.waitForTimeout(restMs);
  await page.waitForTimeout(restMs);
  const framesMs = (await page.evaluate<number[]>("globalThis.frameTimes.slice()")).sort((a, b) => a - b);
  const words = (await page.locator(".timeline-bar").textContent()) ?? "";
  const [, spans, drawn] = /([\d\u202f]+) spans, ([\d\u202f]+) drawn/.exec(words) ?? [];
  return { name, framesMs, spans: toCount(spans), drawn: toCount(drawn) };
}

function toCount(text: string | undefined): number {
  return Number((text ?? "NaN").replaceAll("\u202f", ""));
}

const frameTimer = `(() => {
  globalThis.frameTimes = [];
  let before = performance.now();
  const tick = (now) => {
    frameTimes.push(now - before);
    before = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
})()`;
