// The page in a real browser: how long a person waits for the first picture of compared runs and of a run with many
// metrics, and frame times of the timeline while a person zooms and drags through a million spans.
//
// Usage: node bench/web.ts [--spans N] [--only pictures] [--save]

import { createTestApp } from "../tests/support/app.ts";
import { findProgram, wholeBrowsers } from "../tests/support/tools.ts";
import { openBrowser } from "../tests/web/browser.ts";
import { sendSteps, type WalkPart, walkTimeline } from "../tests/web/timeline-walk.ts";
import { describeMachine, quantile, timed, whole } from "./support/server.ts";
import { measurePictures, sendPictures, toPictureTable } from "./support/web-pictures.ts";
import { isAsked, option, savePage } from "./support/words.ts";

const spansTotal = Number(option("--spans") ?? 1_000_000);
const run = "bench-timeline";

const server = await createTestApp();
const browser = await openBrowser(findProgram(wholeBrowsers));
try {
  await sendPictures(server);
  const pictures = toPictureTable(await measurePictures(server, browser));
  const result = isAsked("--only") ? pictures : `${await measureTimeline()}\n${pictures}`;
  await savePage("web", result);
} finally {
  await browser.close();
  await server.remove();
}
// The browser belongs to the process and would keep it alive.
process.exit();

async function measureTimeline(): Promise<string> {
  const sentMs = await timed(() => sendSteps(server, run, spansTotal));
  console.error(`${whole(spansTotal)} spans are stored after ${(sentMs / 1000).toFixed(1)} s`);
  const { page, problems, close } = await browser.visit(`${server.app.url}/runs/${run}/timeline`);
  const shownMs = await timed(() => page.locator(".timeline-summary td").first().waitFor({ timeout: 120_000 }));
  const parts = await walkTimeline(page, spansTotal);
  const answersMs = await page.evaluate<number[]>(
    "performance.getEntriesByType('resource').filter((each) => each.name.includes('/spans?')).map((each) => each.duration)",
  );
  await close();
  if (problems.length > 0) throw new Error(problems.join("; "));
  return toPage(parts, shownMs, answersMs);
}

function toPage(parts: readonly WalkPart[], shownMs: number, answersMs: readonly number[]): string {
  const row = ({ name, framesMs, spans, drawn }: WalkPart) => {
    const at = (share: number) => quantile(framesMs, share).toFixed(1);
    const late = framesMs.filter((each) => each > 25).length;
    return `| ${name} | ${framesMs.length} | ${at(0.5)} | ${at(0.95)} | ${at(0.99)} | ${at(1)} | ${late} | ${whole(spans)} | ${whole(drawn)} |`;
  };
  return `# The page

\`node bench/web.ts${spansTotal === 1_000_000 ? "" : ` --spans ${spansTotal}`}\` on ${describeMachine()}. Browser, server and engine share these cores, and the
browser draws without a GPU.

## The timeline

The timeline of one run of ${whole(spansTotal)} spans, five to a step. Milliseconds between frames
while a person zooms in on five steps, drags through them, and zooms out to the whole run; a frame is late when it took more
than 25 ms, which is one and a half of the sixtieths of a second the screen gives.

| what is done | frames | p50 | p95 | p99 | longest | late | spans in the window at its end | boxes drawn |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${parts.map(row).join("\n")}

From opening the page to the first timeline with its table: ${shownMs.toFixed(0)} ms, the server laying out all spans for the first
time. The ${answersMs.length} answers the walk asked for took ${quantile(answersMs, 0.5).toFixed(0)} ms at the median and ${Math.max(...answersMs).toFixed(0)} ms at most; frames do not wait for them.
`;
}
