// How long a person waits for the first picture: of compared runs, and of a run with many metrics.

import { performance } from "node:perf_hooks";
import type { Page } from "playwright-core";
import type { TestApp } from "../../tests/support/app.ts";
import type { TestBrowser } from "../../tests/web/browser.ts";
import { drained, sendXtrack, toFrames } from "../../tests/web/sample.ts";
import { quantile } from "./server.ts";

const stepsPerRun = 1000;
const wideMetrics = 300;
const wideSteps = 500;
const repeats = 3;

export interface Picture {
  readonly name: string;
  /** The first time these runs are asked for. */
  readonly firstMs: number;
  /** The median of the times after that. */
  readonly againMs: number;
  readonly requests: number;
  /** Panels that were drawn when the last request was answered. */
  readonly panels: number;
}

export async function sendPictures(server: TestApp): Promise<void> {
  const startMs = Date.now() - 7_200_000;
  for (let n = 0; n < 100; n++) await sendXtrack(server, toTraining(n, startMs + n * 1000));
  await sendXtrack(server, toWideRun(startMs));
  await drained(server);
}

export async function measurePictures(server: TestApp, browser: TestBrowser): Promise<Picture[]> {
  const pictures: Picture[] = [];
  for (const count of [2, 10, 100]) {
    const runs = Array.from({ length: count }, (_, n) => `run=training-${n}`).join("&");
    pictures.push(await measure(server, browser, `compare ${count} runs`, `/compare?${runs}`));
  }
  pictures.push(await measure(server, browser, `charts of ${wideMetrics} metrics`, "/runs/wide/charts"));
  return pictures;
}

/** Each time in a browser that has nothing yet: the page itself is loaded too. */
async function measure(server: TestApp, browser: TestBrowser, name: string, path: string): Promise<Picture> {
  const times: number[] = [];
  let [requests, panels] = [0, 0];
  for (let turn = 0; turn <= repeats; turn++) {
    const visit = await browser.visit("about:blank");
    let asked = 0;
    visit.page.on("request", (request) => {
      if (request.url().includes("/api/v1/")) asked++;
    });
    const before = performance.now();
    await visit.page.goto(server.app.url + path, { waitUntil: "commit" });
    await visit.page.locator(".chart-panel canvas").first().waitFor();
    times.push(performance.now() - before);
    panels = await settled(visit.page);
    requests = asked;
    await visit.close();
    if (visit.problems.length > 0) throw new Error(visit.problems.join("; "));
  }
  const [firstMs = 0, ...again] = times;
  return { name, firstMs, againMs: quantile(again, 0.5), requests, panels };
}

/** How many panels are drawn when no more are added. */
async function settled(page: Page): Promise<number> {
  let [before, now] = [-1, 0];
  while (now !== before) {
    before = now;
    await page.waitForTimeout(500);
    now = await page.locator(".chart-panel canvas").count();
  }
  return now;
}

function toTraining(n: number, startMs: number): Buffer {
  const id = `training-${n}`;
  return toFrames(
    [
      ["run_start", { run_id: { id, exp_id: "bench" }, name: `training ${n}` }],
      ["param", { run_id: id, key: "lr", value: (n % 5) / 1000 }],
      ...Array.from({ length: stepsPerRun }, (_, step): [string, object] => [
        "metric_batch",
        {
          run_id: id,
          step,
          metrics: {
            loss: 4 / (1 + step / (n + 1)),
            grad_norm: 1 + Math.sin(step + n),
            lr: 0.001 / (1 + step),
            accuracy: step / stepsPerRun,
            throughput: 1000 + (step % 7),
          },
          ctx: { phase: "train" },
        },
      ]),
      ["run_end", { run_id: id, status: "completed" }],
    ],
    startMs,
  );
}

function toWideRun(startMs: number): Buffer {
  const id = "wide";
  const names = Array.from(
    { length: wideMetrics },
    (_, i) => `layer_${String(i >> 2).padStart(2, "0")}/metric_${i % 4}`,
  );
  return toFrames(
    [
      ["run_start", { run_id: { id, exp_id: "bench" }, name: "many metrics" }],
      ...Array.from({ length: wideSteps }, (_, step): [string, object] => [
        "metric_batch",
        { run_id: id, step, metrics: Object.fromEntries(names.map((name, i) => [name, Math.sin(step / 50 + i)])) },
      ]),
      ["run_end", { run_id: id, status: "completed" }],
    ],
    startMs,
  );
}

export function toPictureTable(pictures: readonly Picture[]): string {
  const row = ({ name, firstMs, againMs, requests, panels }: Picture) =>
    `| ${name} | ${firstMs.toFixed(0)} | ${againMs.toFixed(0)} | ${requests} | ${panels} |`;
  return `## The first picture

Milliseconds from the address to the first curve on the screen, in a browser that has nothing of the page yet: the first
time these runs are asked for, and the median of ${repeats} times after that. Compared are trainings of ${stepsPerRun.toLocaleString("en-US")} steps with five
metrics, and one run has ${wideMetrics} metrics of ${wideSteps} steps; only panels near the screen are made.

| what is opened | first | again | requests | panels drawn |
| --- | ---: | ---: | ---: | ---: |
${pictures.map(row).join("\n")}
`;
}
