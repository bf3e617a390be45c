// A person works in a timeline of several ranks: scrolls the lanes, finds a rare span, adds up an area, reads the flame
// graph; and a name has one colour wherever it stands.

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "./browser.ts";
import { drained, sendXtrack, toFrames } from "./sample.ts";
import { suiteSite } from "./site.ts";
import { boxOf, drag, soon, walkOn } from "./walking.ts";

const run = "lanes";
const startNs = 1_790_000_000_000_000_000n;
const steps = 400;
const stepNs = 10_000_000;
const [server, browser] = suiteSite("empty");

const walk = (path: string, act: (page: Page) => Promise<void>) =>
  walkOn(browser, `${server.app.url}/runs/${run}/${path}`, act);
const details = (page: Page) => page.getByRole("complementary", { name: "Span" });

/** Four ranks of two threads: steps with a forward and a backward each, and once in a while something rare. */
async function sendLanes(): Promise<void> {
  for (let lane = 0; lane < 8; lane++) {
    const spans: string[] = [];
    const push = (id: string, name: string, parent: string | null, from: number, to: number) => {
      const parent_id = parent === null ? "null" : `"${parent}"`;
      spans.push(
        `{"id":"${id}","name":"${name}","parent_id":${parent_id},"index":null,"start_ns":${startNs + BigInt(from)},"end_ns":${startNs + BigInt(to)},"cpu_ns":null,"gpu_ns":null,"memory_peak_bytes":null,"thread_id":${lane % 2},"pid":1,"rank":${Math.floor(lane / 2)},"attrs":{},"mark_ids":[]}`,
      );
    };
    const id = (n: number) => (lane * 1_000_000 + n).toString(16).padStart(32, "0");
    for (let step = 0; step < steps; step++) {
      const at = step * stepNs;
      push(id(step * 4 + 1), "step", null, at, at + 9_000_000);
      push(id(step * 4 + 2), "forward", id(step * 4 + 1), at, at + 3_000_000);
      push(id(step * 4 + 3), "backward", id(step * 4 + 1), at + 3_000_000, at + 8_000_000);
      if (lane === 7 && step % 150 === 149) {
        push(id(step * 4 + 4), "checkpoint_flush", id(step * 4 + 1), at + 8_000_000, at + 8_000_500);
      }
    }
    const head = `{"schema_version":1,"sdk_version":"walk","batch_id":"${id(0)}","created_ns":${startNs}`;
    const body = `${head},"spans":[${spans.join(",")}],"marks":[],"snapshots":[]}`;
    expect((await server.post(`/v1/runs/${run}/traces`, body)).status).toBe(202);
  }
  const startMs = Number(startNs / 1_000_000n);
  const losses = Array.from({ length: steps }, (_, i) =>
    toFrames([["metric", { run_id: run, key: "loss", value: 1, step: i }]], startMs + (i + 1) * 10, "w0", i + 2),
  );
  await sendXtrack(
    server,
    Buffer.concat([toFrames([["run_start", { run_id: { id: run } }]], startMs, "w0"), ...losses]),
  );
  await drained(server);
}

async function canvasOf(page: Page) {
  await page.locator(".timeline-summary td").first().waitFor();
  return boxOf(page.locator(".timeline-canvas"));
}

const seconds = (page: Page) => {
  const { searchParams } = new URL(page.url());
  return (Number(searchParams.get("to") ?? 0) - Number(searchParams.get("from") ?? 0)) / 1e9;
};

describe.skipIf(chromiumPath === undefined)("a timeline of several ranks", () => {
  beforeAll(async () => {
    await sendLanes();
  }, 180_000);

  test("wheel and drag reach the last rank; Ctrl with the wheel zooms; the table below can be made larger", async () => {
    await walk("timeline", async (page) => {
      await page.setViewportSize({ width: 1300, height: 620 });
      const box = await canvasOf(page);
      const scrolled = () => page.locator(".timeline-scroll").evaluate((element) => element.scrollTop);
      await page.getByText("wheel scrolls lanes").waitFor();
      await page.mouse.move(box.x + 600, box.y + 80);
      await page.mouse.wheel(0, 200);
      await soon(scrolled).toBeGreaterThan(100);
      expect(new URL(page.url()).searchParams.has("from")).toBe(false);
      const wheeled = await scrolled();
      await drag(page, [box.x + 600, box.y + 60], [box.x + 600, box.y + 120]);
      await soon(scrolled).toBeLessThan(wheeled);
      await page.keyboard.down("Control");
      await page.mouse.wheel(0, -300);
      await page.keyboard.up("Control");
      await page.waitForURL(/from=\d+/);
      const edge = page.getByRole("separator", { name: "Height of the timeline" });
      const before = (await page.locator(".timeline-summary").boundingBox())?.height ?? 0;
      await edge.focus();
      for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowUp");
      await soon(async () => (await page.locator(".timeline-summary").boundingBox())?.height ?? 0).toBeGreaterThan(
        before,
      );
    });
  });

  test("n goes to the next match from whatever distance, the number of matches is said, and a link finds the same", async () => {
    await walk("timeline", async (page) => {
      await canvasOf(page);
      const search = page.getByLabel("Highlight spans by name");
      await search.fill("flush");
      await page.getByText("2 matches").waitFor();
      await search.press("Escape");
      expect(await search.inputValue()).toBe("flush");
      await page.keyboard.press("n");
      await details(page).getByRole("heading", { name: "checkpoint_flush" }).waitFor();
      await soon(() => seconds(page)).toBeGreaterThan(0);
      // Half a microsecond of four seconds: it could not be seen where the view stood.
      expect(seconds(page)).toBeLessThan(0.001);
      const first = new URL(page.url()).searchParams.get("from");
      await page.keyboard.press("n");
      await soon(() => new URL(page.url()).searchParams.get("from")).not.toBe(first);
      await page.keyboard.press("Shift+N");
      await soon(() => new URL(page.url()).searchParams.get("from")).toBe(first);
      expect(new URL(page.url()).searchParams.get("find")).toBe("flush");
      await page.keyboard.press("Escape");
      await soon(() => search.inputValue()).toBe("");
    });
  });

  test("a merged box says how many spans and names it stands for", async () => {
    await walk("timeline", async (page) => {
      const box = await canvasOf(page);
      // The second row of the first lane: forward and backward, narrower than a pixel from afar.
      await page.setViewportSize({ width: 420, height: 700 });
      await soon(async () => (await canvasOf(page)).width).toBeLessThan(box.width);
      const small = await canvasOf(page);
      // What is under the pointer is looked up when it moves, and boxes for the new width come a little later.
      let moves = 0;
      const hovered = async () => {
        await page.mouse.move(small.x + 132 + 40 + (moves++ % 5), small.y + 22 + 20 + 18 + 6);
        return page.locator(".timeline-bar").textContent();
      };
      await soon(hovered).toMatch(/\d+ spans, 2 names over/);
    });
  });

  test("a name has the same colour in the lanes' table, the strip and the flame graph", async () => {
    await walk("timeline", async (page) => {
      const box = await canvasOf(page);
      await page.mouse.move(box.x + 600, box.y + 50);
      await page.mouse.move(box.x + 620, box.y + 50);
      const colourOf = async (row: string) =>
        page
          .locator(row)
          .first()
          .evaluate((element) => {
            const { style } = element as unknown as { style: { background: string } };
            return style.background;
          });
      await page.locator(".moment-spans .chip", { hasText: "backward" }).waitFor();
      const inStrip = await colourOf('.moment-spans .chip:has-text("backward") .swatch');
      expect(await colourOf('.timeline-summary tr:has-text("backward") .swatch')).toBe(inStrip);
      await page.getByRole("button", { name: "flame graph" }).click();
      await page.getByRole("button", { name: /^backward, / }).waitFor();
      expect(await colourOf('.flame-box[aria-label^="backward"]')).toBe(inStrip);
    });
  });

  test("the flame graph adds up paths, is looked at part by part, and is in the address", async () => {
    await walk("timeline?show=flame", async (page) => {
      await page.getByRole("button", { name: "step, 28.8 s" }).waitFor();
      await page.getByRole("button", { name: "forward, 9.60 s" }).click();
      await soon(() => page.locator(".flame-box").count()).toBe(1);
      await page.getByText(/3200 spans/).waitFor();
      await page.getByRole("button", { name: "show all" }).click();
      await page.getByRole("button", { name: "backward, 16.0 s" }).waitFor();
    });
  });

  test("Shift with a drag adds up some lanes for some time, and Esc ends it", async () => {
    await walk("timeline", async (page) => {
      const box = await canvasOf(page);
      const wide = box.width - 132;
      const x = (share: number) => box.x + 132 + wide * share;
      await page.keyboard.down("Shift");
      // The first two lanes, a quarter of the run.
      await drag(page, [x(0.25), box.y + 40], [x(0.5), box.y + 22 + 62 + 40]);
      await page.keyboard.up("Shift");
      const area = page.getByRole("complementary", { name: "Selected area" });
      await area.getByRole("heading", { name: /, 2 lanes/ }).waitFor();
      const count = area.getByRole("row", { name: /^step/ }).getByRole("cell").nth(1);
      await soon(async () => Number(await count.textContent())).toBeGreaterThan(190);
      expect(Number(await count.textContent())).toBeLessThan(215);
      await page.keyboard.press("Escape");
      await area.waitFor({ state: "detached" });
    });
  });
});
