// Pictures of the page for docs/screenshots, taken from the demo: every view light and dark at 1440 pixels, and those that
// people open on a small screen at 768 and 390 too.
//
// Usage: node scripts/screenshots.ts [view …]

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Page, Request } from "playwright-core";
import { findProgram, wholeBrowsers } from "../tests/support/tools.ts";
import { openBrowser } from "../tests/web/browser.ts";

interface View {
  readonly name: string;
  readonly path: string;
  /** What is on the page when it is ready. */
  readonly ready: string;
  readonly act?: (page: Page) => Promise<void>;
  /** Also photographed on small screens. */
  readonly small?: boolean;
  /** Of the wide picture, where it needs less. */
  readonly height?: number;
}

const folder = new URL("../docs/screenshots/", import.meta.url).pathname;
const widePx = 1440;
/** Of the profiled training. */
const steps = 600;
const dipStep = 151;
/** A page is ready once it has requested nothing for this long; one that never pauses is photographed once it is complete. */
const restMs = 1500;
const restMsMax = 30_000;
const wholeMsMax = 300_000;
const sizes = [
  { width: widePx, height: 900 },
  { width: 768, height: 1024 },
  { width: 390, height: 844 },
] as const;

const data = await mkdtemp(join(tmpdir(), "tributary-pictures-"));
const demo = spawn(
  process.execPath,
  ["src/main.ts", "demo", "--data", data, "--http", "127.0.0.1:0", "--xtrack", "127.0.0.1:0"],
  { cwd: new URL("..", import.meta.url).pathname, stdio: ["ignore", "pipe", "inherit"] },
);
try {
  const url = await readUrl();
  await mkdir(folder, { recursive: true });
  const wanted = new Set(process.argv.slice(2));
  const browser = await openBrowser(findProgram(wholeBrowsers));
  try {
    for (const view of await listViews(url)) {
      if (wanted.size > 0 && !wanted.has(view.name)) continue;
      for (const size of view.small === true ? sizes : sizes.slice(0, 1))
        for (const theme of ["light", "dark"] as const) {
          let settled = async (): Promise<void> => undefined;
          const { page, close } = await browser.visit(url + view.path, {
            width: size.width,
            height: size.width === widePx ? (view.height ?? size.height) : size.height,
            theme,
            prepare: (opened) => {
              asInstalled(opened);
              settled = watchAnswers(opened);
            },
          });
          page.setDefaultTimeout(120_000);
          await page.locator(view.ready).first().waitFor();
          await view.act?.(page);
          await settled();
          await page.screenshot({ path: join(folder, `${view.name}-${size.width}-${theme}.png`) });
          await close();
        }
      console.log(view.name);
    }
  } finally {
    await browser.close();
  }
} finally {
  if (demo.kill("SIGTERM")) await once(demo, "exit");
  await rm(data, { recursive: true, force: true });
}

/** Resolves when every request was answered, none was made for a while, and nothing shows that it is loading. */
function watchAnswers(page: Page): () => Promise<void> {
  const open = new Set<Request>();
  let changedMs = Date.now();
  const isAnswer = (request: Request) => request.url().includes("/api/v1/") && !request.url().includes("/api/v1/live");
  page.on("request", (request) => {
    if (isAnswer(request)) open.add(request);
    changedMs = Date.now();
  });
  const end = (request: Request) => {
    if (open.delete(request)) changedMs = Date.now();
  };
  page.on("requestfinished", end);
  page.on("requestfailed", end);
  return async () => {
    const fromMs = Date.now();
    while (Date.now() - fromMs < wholeMsMax) {
      const isQuiet = open.size === 0 && Date.now() - changedMs > restMs;
      const isWhole = (await page.locator(".skeleton, .outdated").count()) === 0;
      if (isWhole && (isQuiet || Date.now() - fromMs > restMsMax)) return;
      await page.waitForTimeout(100);
    }
  };
}

/** The command as an installed package has it: a checkout names its own folder, which is of no interest to others. */
function asInstalled(page: Page): void {
  void page.route("**/api/v1/session", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), command: "tributary" } });
  });
}

/** The demo says where it is once its sample is loaded. The pipe stays open: it would end when it prints into nothing. */
function readUrl(): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    demo.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const found = /(http:\/\/127\.0\.0\.1:\d+)\/tour/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    demo.once("exit", () => reject(new Error(`the demo did not start: ${text}`)));
  });
}

async function listViews(url: string): Promise<View[]> {
  const ids = async (filter: string): Promise<string[]> => {
    const response = await fetch(`${url}/api/v1/runs?limit=100&filter=${encodeURIComponent(filter)}`);
    return ((await response.json()) as { runs: { id: string }[] }).runs.map(({ id }) => id);
  };
  // The training that runs now is started after the demo has said where it is.
  const running = async (): Promise<string[]> => {
    for (;;) {
      const found = await ids("status:running");
      if (found.length > 0) return found;
      await setTimeout(200);
    }
  };
  const [sweep, [profiled = ""], [live = ""], [failed = ""]] = await Promise.all([
    ids("protocol:xtrack AND experiment:h200-gpt-sweep AND status:completed"),
    ids("name:gpt-128-profiled"),
    running(),
    ids("protocol:semantiva AND status:failed"),
  ]);
  const { launches } = (await (await fetch(`${url}/api/v1/launches`)).json()) as {
    launches: { id: string; attempt: number }[];
  };
  const compared = `/compare?${sweep.map((id) => `run=${id}`).join("&")}`;
  const run = `/runs/${profiled}`;
  return [
    { name: "tour", path: "/tour", ready: "h1, h2" },
    { name: "runs", path: "/runs", ready: ".run-name", small: true },
    { name: "overview", path: run, ready: ".facts", small: true },
    { name: "moment", path: `${run}/charts?size=small&axis=step`, ready: ".plot canvas", act: pinMoment, height: 680 },
    { name: "charts", path: `${run}/charts`, ready: ".plot canvas", small: true },
    { name: "timeline", path: `${run}/timeline`, ready: ".timeline-summary td", act: zoomTimeline, small: true },
    { name: "tensors", path: `${run}/tensors`, ready: ".tensor-list button, .ridges path" },
    { name: "pipeline", path: `/runs/${failed}/pipeline`, ready: ".node-card" },
    { name: "logs", path: `/runs/${live}/logs?read=end`, ready: ".log-line", small: true },
    { name: "control", path: `/runs/${live}/control`, ready: ".button", act: adjustRate },
    { name: "integrity", path: `${run}/integrity`, ready: ".panel" },
    { name: "report", path: `${run}/report`, ready: ".plot canvas" },
    { name: "compare", path: compared, ready: ".plot canvas", small: true },
    { name: "compare-parameters", path: `${compared}&tab=params`, ready: ".diff td" },
    { name: "compare-parallel", path: `${compared}&tab=parallel`, ready: ".parallel path" },
    { name: "compare-scatter", path: `${compared}&tab=scatter`, ready: ".parallel circle" },
    { name: "launch", path: `/launches/${launches[0]?.id}/${launches[0]?.attempt}`, ready: ".launch-grid" },
    { name: "sql", path: "/sql", ready: ".sql-editor", act: runQuery },
    { name: "health", path: "/health", ready: ".health-tile" },
    { name: "start", path: "/start", ready: ".command-line" },
  ];
}

/** A click on the dip of the throughput at step 150, so that the step, its spans, tensors and lines stand below. */
async function pinMoment(page: Page): Promise<void> {
  const panel = page.getByRole("region", { name: "train · tokens_per_s", exact: true });
  await panel.locator("canvas").waitFor();
  const box = await panel.locator(".u-over").boundingBox();
  if (box === null) throw new Error("the plot has no box");
  await page.mouse.click(box.x + (box.width * (dipStep - 1)) / (steps - 1), box.y + box.height / 2);
  await page.locator(".moment-spans .chip").first().waitFor();
}

async function zoomTimeline(page: Page): Promise<void> {
  const box = await page.locator(".timeline-canvas").boundingBox();
  if (box === null) throw new Error("the timeline has no box");
  await page.mouse.move(box.x + box.width * 0.55, box.y + 70);
  for (let i = 0; i < 13; i++) await page.mouse.wheel(0, -300);
  await page.waitForURL(/from=\d+/);
}

/** A command with its life below. */
async function adjustRate(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Learning rate" }).click();
  await page.getByRole("spinbutton", { name: "learning rate" }).fill("0.01");
  await page.getByRole("button", { name: "send “learning rate”" }).click();
  await page.getByRole("cell", { name: "confirmed" }).first().waitFor();
}

async function runQuery(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^run/ }).click();
  await page.locator(".sql-cell").first().waitFor();
}
