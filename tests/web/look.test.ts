// Every view, light and dark, wide and narrow: it opens without complaint, passes the accessibility check, and is
// never wider than the page. One page visits them all and changes its looks in place; it is loaded anew where a test has
// left something open.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Run, startRun } from "#emit/xtrack.ts";
import { chromiumPath, type Visit } from "./browser.ts";
import { failedPipeline, profiledRun, sendRecorded } from "./sample.ts";
import { suiteSite } from "./site.ts";
import { boxOf, changeMedia, follow, zoomTimeline } from "./walking.ts";

const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const axe = readFileSync(axePath, "utf8");
/** A tablet and a phone. */
const narrowPx = [768, 390];

interface View {
  readonly name: string;
  readonly path: string | (() => Promise<string>);
  /** What is on the page when it is ready. */
  readonly ready: string;
  readonly act?: (page: Page) => Promise<void>;
}

const [server, browser] = suiteSite("sample");
let visit: Visit;
/** Whether the page is as it was when its view was opened. */
let isUntouched = true;
let job: Run;
let recorded = "";

async function sweepQuery(): Promise<string> {
  const { body } = await server.get("/api/v1/runs?limit=100&filter=experiment%3Ah200-gpt-sweep");
  const runs = (body as { runs: { id: string }[] }).runs.filter((run) => run.id !== profiledRun);
  return runs.map((run) => `run=${run.id}`).join("&");
}

/** Two trainings with spans, and with a tensor of the same name. */
async function pairPath(tab: string): Promise<string> {
  return `/compare?run=${recorded}&run=with-blobs-too&tab=${tab}`;
}

async function launchPath(): Promise<string> {
  const { body } = await server.get("/api/v1/launches");
  const [launch] = (body as { launches: { id: string; attempt: number }[] }).launches;
  return `/launches/${launch?.id}/${launch?.attempt}`;
}

async function zoom(page: Page): Promise<void> {
  const box = await zoomTimeline(page, [560, 70], 13);
  const details = page.getByRole("complementary", { name: "Span" });
  const isOpen = () =>
    details.waitFor({ timeout: 1000 }).then(
      () => true,
      () => false,
    );
  // The boxes of the new window come a little later: one that merges many spans has no details.
  do await page.mouse.click(box.x + 560, box.y + 22 + 20 + 18 * 2 + 6);
  while (!(await isOpen()));
}

/** The pointer on a step, so that its moment stands below. */
async function point(page: Page): Promise<void> {
  const box = await boxOf(page.locator(".u-over").first());
  await page.mouse.move(box.x + 100, box.y + 60);
  await page.mouse.move(box.x + 140, box.y + 60);
  await page.locator(".moment-spans .chip").first().waitFor();
}

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder("go to a run").fill("loss");
  await page.getByText("metrics of this run").waitFor();
}

const run = `/runs/${profiledRun}`;
const views: readonly View[] = [
  { name: "runs", path: "/runs?filter=experiment%3Ah200-gpt-sweep", ready: ".run-name" },
  { name: "overview", path: run, ready: ".facts" },
  { name: "charts", path: `${run}/charts`, ready: ".plot canvas", act: point },
  { name: "palette", path: `${run}/charts`, ready: ".plot canvas", act: openPalette },
  { name: "timeline", path: `${run}/timeline`, ready: ".timeline-summary td", act: zoom },
  { name: "tensors", path: `${run}/tensors?tensor=blocks.2.qkv.weight`, ready: ".ridges path" },
  { name: "pipeline", path: `/runs/${failedPipeline}/pipeline`, ready: ".node-card" },
  { name: "logs", path: "/runs/watched/logs", ready: ".log-line" },
  { name: "files", path: `${run}/files`, ready: ".table td" },
  { name: "params", path: `${run}/params`, ready: ".table td" },
  { name: "events", path: `${run}/events`, ready: ".log-line" },
  { name: "control", path: "/runs/watched/control", ready: "button:has-text('Checkpoint now')" },
  { name: "integrity", path: `${run}/integrity`, ready: ".seq-bar" },
  { name: "report", path: `${run}/report`, ready: ".plot canvas" },
  { name: "compare-charts", path: async () => `/compare?${await sweepQuery()}`, ready: ".plot canvas" },
  { name: "compare-parameters", path: async () => `/compare?${await sweepQuery()}&tab=params`, ready: ".diff td" },
  {
    name: "compare-parallel",
    path: async () => `/compare?${await sweepQuery()}&tab=parallel`,
    ready: ".parallel path",
  },
  {
    name: "compare-scatter",
    path: async () => `/compare?${await sweepQuery()}&tab=scatter`,
    ready: ".parallel circle",
  },
  { name: "compare-time", path: () => pairPath("time"), ready: ".table td" },
  { name: "compare-tensors", path: () => pairPath("tensors"), ready: ".ridges path" },
  { name: "launches", path: "/launches", ready: ".runs-bar" },
  { name: "launch", path: launchPath, ready: ".launch-grid" },
  {
    name: "sql",
    path: "/sql",
    ready: ".sql-editor",
    act: async (page) => {
      await page.getByRole("button", { name: /^run/ }).click();
      await page.locator(".sql-cell").first().waitFor();
    },
  },
  { name: "health", path: "/health", ready: ".health-tile" },
  { name: "settings", path: "/settings", ready: ".panel" },
  { name: "start", path: "/start", ready: ".command-line" },
];

describe.skipIf(chromiumPath === undefined)("every view", () => {
  beforeAll(async () => {
    recorded = (await sendRecorded(server, "with-blobs")).run;
    const port = Number(server.app.xtrack[0]?.split(":").at(-1));
    const transport = { kind: "tcp", host: "127.0.0.1", port } as const;
    job = startRun({ id: "watched", name: "a watched job", workerId: "w0", transport, source: false, env: false });
    for (let step = 1; step <= 40; step++) {
      job.metric("loss", 2 / step, { step, phase: "train" });
      job.log(step % 13 === 0 ? "warning" : "info", step % 13 === 0 ? "gradient clipped" : `step ${step} done`, {
        step,
      });
    }
    visit = await browser.visit(`${server.app.url}/start`);
  }, 240_000);
  afterAll(async () => {
    await job?.end({ timeoutMs: 2000 });
  });

  test.each(views)("$name is whole and accessible, light and dark, and fits 768 and 390 pixels", async (view) => {
    const { page, problems } = visit;
    problems.length = 0;
    await page.setViewportSize({ width: 1280, height: 800 });
    await changeMedia(page, { colorScheme: "light" }, "light");
    await open(page, typeof view.path === "string" ? view.path : await view.path(), view.ready);
    isUntouched = view.act === undefined;
    await view.act?.(page);
    await settle(page);
    expect(await findings(page)).toEqual([]);
    await changeMedia(page, { colorScheme: "dark" }, "dark");
    await settle(page);
    // Another theme is other colours and nothing else.
    expect(await findings(page, ["color-contrast"])).toEqual([]);
    for (const width of narrowPx) {
      await page.setViewportSize({ width, height: 900 });
      await settle(page);
      const [wide, tall] = await page.evaluate<[number, number]>(
        "[document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight - innerHeight]",
      );
      expect({ width, wide, tall }).toEqual({ width, wide: 0, tall: 0 });
    }
    expect(problems).toEqual([]);
  });
});

async function open(page: Page, path: string, ready: string): Promise<void> {
  const shown = page.locator(ready).first();
  if (isUntouched) {
    const earlier = await page.$(ready);
    await follow(page, path);
    await earlier?.waitForElementState("hidden");
  } else await page.goto(server.app.url + path);
  await shown.waitFor();
}

/** What a change of looks set in motion has been drawn: a frame that starts it, its end, and one more. What moves for
 * ever, as the sign of something that is loading does, is not waited for. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => done()));
    await frame();
    const moving = document.getAnimations().filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime));
    await Promise.allSettled(moving.map((one) => one.finished));
    await frame();
  })()`);
}

/** What axe calls serious or critical, and headings that skip a level, with the element. */
async function findings(page: Page, rules?: readonly string[]): Promise<string[]> {
  // The content policy forbids a script element, so axe is handed to the page as an expression.
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe);
  return page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as { axe: Axe };
    const { violations } = await axe.run({
      resultTypes: ["violations"],
      ...(runOnly === undefined ? {} : { runOnly }),
    });
    return violations
      .filter(({ id, impact }) => impact === "serious" || impact === "critical" || id === "heading-order")
      .flatMap((each) => each.nodes.map((node) => `${each.id}: ${node.html.slice(0, 160)}`));
  }, rules);
}

interface Axe {
  run(options: {
    resultTypes: readonly string[];
    runOnly?: readonly string[];
  }): Promise<{ violations: AxeViolation[] }>;
}

interface AxeViolation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}
