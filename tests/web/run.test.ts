// A person looks closely at one run: its charts, the moment under the pointer, its timeline, tensors, files, and the
// report of it on paper.

import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { chromiumPath } from "./browser.ts";
import { profiledRun, sendXtrack, toFrames } from "./sample.ts";
import { suiteSite } from "./site.ts";
import { boxOf, changeMedia, drag, panelOf, plotOf, soon, timersFired, walkOn, zoomTimeline } from "./walking.ts";

const run = `/runs/${profiledRun}`;
const [server, browser] = suiteSite("sample");

const walk = (path: string, steps: (page: Page) => Promise<void>) => walkOn(browser, server.app.url + path, steps);

describe.skipIf(chromiumPath === undefined)("one run in a browser", () => {
  test("a brush in one chart moves every panel and stands in the address; Esc clears it", async () => {
    await walk(`${run}/charts`, async (page) => {
      const box = await plotOf(page, "train · loss");
      await plotOf(page, "train · grad_norm");
      const label = () => panelOf(page, "train · grad_norm").locator(".plot").getAttribute("aria-label");
      const whole = await label();
      await drag(page, [box.x + box.width * 0.3, box.y + 40], [box.x + box.width * 0.5, box.y + 60]);
      await page.waitForURL(/from=\d+&to=\d+/);
      await soon(label).not.toBe(whole);
      await soon(() => page.locator(".window-words").textContent()).toMatch(/steps \d+–\d+/);
      await page.getByRole("link", { name: "Timeline", exact: true }).click();
      await page.getByRole("application").waitFor();
      expect(page.url()).toMatch(/timeline\?from=\d+&to=\d+/);
      await page.keyboard.press("Escape");
      await page.waitForURL((url) => !url.searchParams.has("from"));
    });
  });

  test("Shift with a drag pans the window, Ctrl with the wheel zooms it, a double click clears it", async () => {
    await walk(`${run}/charts`, async (page) => {
      const box = await plotOf(page, "train · loss");
      const window = () => {
        const { searchParams } = new URL(page.url());
        return [Number(searchParams.get("from") ?? 0), Number(searchParams.get("to") ?? 0)] as const;
      };
      await drag(page, [box.x + box.width * 0.4, box.y + 40], [box.x + box.width * 0.6, box.y + 40]);
      await page.waitForURL(/from=\d+/);
      const [from, to] = window();
      await page.keyboard.down("Shift");
      await drag(page, [box.x + box.width * 0.5, box.y + 40], [box.x + box.width * 0.8, box.y + 40]);
      await page.keyboard.up("Shift");
      await soon(() => window()[0]).toBeLessThan(from);
      expect(Math.abs(window()[1] - window()[0] - (to - from)) / (to - from)).toBeLessThan(0.1);
      await page.keyboard.down("Control");
      await page.mouse.wheel(0, 400);
      await page.keyboard.up("Control");
      await soon(() => window()[1] - window()[0]).toBeGreaterThan((to - from) * 1.1);
      await page.mouse.dblclick(box.x + box.width * 0.5, box.y + 40);
      await page.waitForURL((url) => !url.searchParams.has("from"));
    });
  });

  test("a chart keeps the axis it is drawn by until the points for another are here", async () => {
    await walk(`${run}/charts`, async (page) => {
      const panel = panelOf(page, "train · loss");
      await plotOf(page, "train · loss");
      await panel.getByRole("button", { name: "train · loss as a table" }).click();
      const firstCell = panel.getByRole("row").nth(1).getByRole("cell").first();
      await soon(() => firstCell.textContent()).toMatch(/^step \d+$/);
      let go: () => void = () => {};
      const held = new Promise<void>((resolve) => {
        go = resolve;
      });
      const asked = page.waitForRequest(/\/api\/v1\/series$/);
      await page.route(/\/api\/v1\/series$/, async (route) => {
        await held;
        await route.continue();
      });
      await page.getByRole("button", { name: "relative" }).click();
      await asked;
      await timersFired(page, 100);
      // Steps read as nanoseconds would all be 0:00.
      expect(await firstCell.textContent()).toMatch(/^step \d+$/);
      go();
      await soon(() => firstCell.textContent()).toMatch(/^\d+:\d\d/);
      await page.unrouteAll({ behavior: "ignoreErrors" });
    });
  });

  test("pointing at a step shows its value in every chart, and its loss, spans and logs below", async () => {
    const { body } = await server.get(`/api/v1${run}`);
    const { start_ns } = body as { start_ns: string };
    const at = Number(BigInt(start_ns) / 1_000_000n) + 2000;
    const lines = Array.from({ length: 400 }, (_, i) => [
      "log",
      { run_id: profiledRun, level: "info", msg: `line ${i}`, step: i },
    ]) as [string, object][];
    // The lines are 10 ms apart within the training, so that every moment has one near.
    await sendXtrack(server, spread(lines, at, 10));
    await walk(`${run}/charts`, async (page) => {
      const other = panelOf(page, "train · grad_norm").locator(".readout");
      const box = await plotOf(page, "train · loss");
      await plotOf(page, "train · grad_norm");
      const before = await other.textContent();
      await page.mouse.move(box.x + box.width * 0.5, box.y + 40);
      await page.mouse.move(box.x + box.width * 0.52, box.y + 40);
      await soon(() => other.textContent()).not.toBe(before);
      const moment = page.getByRole("region", { name: "The moment under the cursor" });
      await soon(() => moment.locator("dl").textContent()).toMatch(/step\d+.*loss\d/);
      await moment.locator(".chip", { hasText: "forward" }).waitFor();
      await moment.locator(".chip", { hasText: "backward" }).waitFor();
      await moment
        .getByText(/info line \d+/)
        .first()
        .waitFor();
      await moment.getByRole("button", { name: "make it the window" }).click();
      await page.waitForURL(/from=\d+&to=\d+/);
      await moment.getByRole("link", { name: "timeline" }).click();
      await page.waitForURL(/timeline\?from=\d+&to=\d+/);
    });
  });

  test("a panel grows, is copied, saved as an image, and its legend shows one worker alone", async () => {
    const two = ["w0", "w1"].flatMap((wid) => [
      ["run_start", { run_id: { id: "two-workers" } }, wid],
      ...Array.from({ length: 5 }, (_, i) => [
        "metric",
        { run_id: "two-workers", key: "loss", value: i + 1, step: i + 1 },
        wid,
      ]),
    ]) as [string, object, string][];
    for (const wid of ["w0", "w1"]) {
      const events = two.filter(([, , of]) => of === wid).map(([type, payload]) => [type, payload] as const);
      await sendXtrack(server, toFrames(events, Date.now() - 10_000, wid));
    }
    await walk("/runs/two-workers/charts", async (page) => {
      const panel = panelOf(page, "loss");
      await panel.locator("canvas").waitFor();
      await page.getByRole("button", { name: "per worker" }).click();
      const legend = panel.locator(".legend");
      await legend.getByRole("button", { name: "w1" }).click();
      expect(await legend.getByRole("button", { name: "w0" }).getAttribute("aria-pressed")).toBe("false");
      await legend.getByRole("button", { name: "w1" }).click();
      expect(await legend.getByRole("button", { name: "w0" }).getAttribute("aria-pressed")).toBe("true");
      await panel.getByRole("button", { name: "copy the data" }).click();
      const copied = await page.evaluate<string>("navigator.clipboard.readText()");
      expect(copied.split("\n")).toHaveLength(11);
      const [image] = await Promise.all([
        page.waitForEvent("download"),
        panel.getByRole("button", { name: /^Save loss/ }).click(),
      ]);
      expect((await readFile(await image.path())).subarray(1, 4).toString()).toBe("PNG");
      await panel.getByRole("button", { name: "Expand loss" }).click();
      await page.waitForURL(/panel=loss/);
      expect((await panel.locator(".plot").boundingBox())?.height).toBeGreaterThan(400);
    });
  });

  test("the timeline of a GPU training zooms, selects a span and adds up the window", async () => {
    await walk(`${run}/timeline`, async (page) => {
      await page.getByRole("cell", { name: "backward" }).waitFor();
      await page
        .getByText(/3,?\s?04\d spans|3\u202f?04\d spans/)
        .first()
        .waitFor();
      const box = await zoomTimeline(page);
      await page.mouse.click(box.x + 500, box.y + 22 + 20 + 18 + 8);
      await page.getByRole("complementary", { name: "Span" }).getByRole("heading", { name: /epoch/ }).waitFor();
      const shares = await page.locator(".timeline-summary tr td:last-child").allTextContents();
      for (const share of shares) expect(Number.parseFloat(share.replace("<", ""))).toBeLessThanOrEqual(100);
    });
  });

  test("timeline keys work without a click into it: W zooms, D moves, F fits the span, M makes it the window", async () => {
    await walk(`${run}/timeline`, async (page) => {
      await page.getByRole("cell", { name: "backward" }).waitFor();
      const from = () => new URL(page.url()).searchParams.get("from");
      for (const key of ["w", "w", "w", "d"]) await page.keyboard.press(key);
      await page.waitForURL(/from=\d+/);
      const zoomed = from();
      await page.keyboard.press("d");
      await soon(from).not.toBe(zoomed);
      await page.getByLabel("Highlight spans by name").fill("epoch");
      await page.getByLabel("Highlight spans by name").press("Enter");
      await page.getByRole("complementary", { name: "Span" }).getByRole("heading", { name: /epoch/ }).waitFor();
      await page.getByRole("application").focus();
      await page.keyboard.press("m");
      const { body } = await server.get(`/api/v1${run}`);
      const { start_ns } = body as { start_ns: string };
      await soon(() => BigInt(from() ?? "0") > BigInt(start_ns)).toBe(true);
      await page.keyboard.press("f");
      await page.getByRole("button", { name: "fit all" }).click();
      await page.waitForURL((url) => !url.searchParams.has("from"));
    });
  });

  test("tensors show histograms over epochs, the gradient beside the weight", async () => {
    await walk(`${run}/tensors?tensor=tok.weight`, async (page) => {
      await page.getByRole("img", { name: "Histograms of tok.weight, 3 snapshots" }).waitFor();
      await page.getByRole("img", { name: "Histograms of tok.weight.grad, 3 snapshots" }).waitFor();
      const rows = page.locator(".ridges").first().locator("g[opacity]");
      expect(await rows.count()).toBe(3);
      await rows.nth(1).locator("path").click();
      await page.waitForURL(/from=\d+&to=\d+/);
      await soon(() => rows.evaluateAll((all) => all.map((row) => row.getAttribute("opacity")))).toEqual([
        expect.any(String),
        "1",
        "0.25",
      ]);
    });
  });

  test("the best checkpoint and how long the run took are where one looks for them", async () => {
    await walk(`${run}/files`, async (page) => {
      await page.getByText("step 600").waitFor();
      const [copy, panel] = await Promise.all([
        boxOf(page.getByRole("button", { name: "copy the path of the best checkpoint" })),
        boxOf(panelOf(page, "checkpoints")),
      ]);
      expect(panel.x + panel.width - copy.x - copy.width).toBeLessThan(24);
      await page.getByText("val_loss 2.066").first().waitFor();
      const best = page.getByRole("row", { name: /600\.pt/ });
      await best.waitFor();
      expect(await best.getByText("best", { exact: true }).count()).toBe(1);
      expect(await page.getByTitle(/^how long it took\s+6\.98 s$/).count()).toBe(1);
      await page.getByRole("link", { name: "Overview" }).click();
      await page.getByRole("region", { name: "best checkpoint" }).getByText("/ckpt/gpt-128-profiled/600.pt").waitFor();
    });
  });

  test("a report prints in light ink, without the frame, and nothing of it is cut off", async () => {
    await walk(`${run}/report`, async (page) => {
      await changeMedia(page, { colorScheme: "dark" }, "dark");
      for (const name of ["train · loss", "run", "parameters", "time by span", "checkpoints"]) {
        await panelOf(page, name).waitFor();
      }
      await soon(() => page.locator(".plot canvas").count()).toBeGreaterThan(7);
      await page.setViewportSize({ width: 700, height: 1000 });
      await changeMedia(page, { media: "print", colorScheme: "dark" }, "light");
      expect(await page.locator(".side").isVisible()).toBe(false);
      expect(await page.getByRole("button", { name: "print" }).isVisible()).toBe(false);
      expect(await page.getByRole("heading", { name: "gpt-128-profiled" }).isVisible()).toBe(true);
      const wide = await page.evaluate<string[]>(`[...document.querySelectorAll(".panel, .table, canvas")]
        .filter((each) => each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.outerHTML.slice(0, 80))`);
      expect(wide).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollHeight")).toBeGreaterThan(1500);
      expect((await page.pdf({ format: "A4" })).subarray(0, 4).toString()).toBe("%PDF");
    });
  });
});

/** Frames `everyMs` apart. */
function spread(events: readonly (readonly [string, object])[], startMs: number, everyMs: number): Buffer {
  return Buffer.concat(events.map((event, i) => toFrames([event], startMs + i * everyMs, "logger", i + 1)));
}
