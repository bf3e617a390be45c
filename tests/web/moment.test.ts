// From a spike to its cause: it is seen, it is pinned by one click, and everything stays on it until it is freed.

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "./browser.ts";
import { longName, longSteps, sendAwkward, sendLongRun, sendMore, sendWidest, spikeStep } from "./long-run.ts";
import { profiledRun } from "./sample.ts";
import { suiteSite } from "./site.ts";
import { boxOf, drag, follow, panelOf, plotOf, soon, timersFired, walkOn } from "./walking.ts";

const [server, browser] = suiteSite("sample");

const walk = (path: string, steps: (page: Page) => Promise<void>) => walkOn(browser, server.app.url + path, steps);
const strip = (page: Page) => page.getByRole("region", { name: "The moment under the cursor" });
const pinOf = (page: Page) => new URL(page.url()).searchParams.get("pin");

/** The share of the rows between the curve and the top of the spike that have a strong coloured pixel near it. */
async function spikeStrength(page: Page, panel: string): Promise<number> {
  await plotOf(page, panel);
  return panelOf(page, panel)
    .locator(".plot")
    .evaluate(
      (host, share) => {
        const canvas = host.querySelector("canvas") as unknown as {
          getContext(kind: "2d"): { getImageData(...box: number[]): { data: Uint8ClampedArray } };
          getBoundingClientRect(): { left: number; top: number };
        };
        const over = (host.querySelector(".u-over") as unknown as typeof canvas).getBoundingClientRect() as DOMBox;
        const at = canvas.getBoundingClientRect();
        const middle = Math.round(over.left - at.left + over.width * share);
        const [top, height] = [over.top - at.top + over.height * 0.2, Math.floor(over.height * 0.6)];
        const { data } = canvas.getContext("2d").getImageData(middle - 6, top, 12, height);
        let strong = 0;
        for (let y = 0; y < height; y++) {
          for (let x = 0; x < 12; x++) {
            const [red = 0, green = 0, blue = 0, alpha = 0] = data.slice((y * 12 + x) * 4, (y * 12 + x) * 4 + 4);
            // The grid is grey, the curve is not.
            if (alpha < 150 || Math.max(red, green, blue) - Math.min(red, green, blue) < 50) continue;
            strong++;
            break;
          }
        }
        return strong / height;
        interface DOMBox {
          left: number;
          top: number;
          width: number;
          height: number;
        }
      },
      (spikeStep - 1) / (longSteps - 1),
    );
}

describe.skipIf(chromiumPath === undefined)("a moment of a run", () => {
  beforeAll(async () => {
    await sendLongRun(server, "long");
    await sendAwkward(server, "awkward");
    await sendWidest(server, "widest");
  }, 240_000);

  test.each(["light", "dark"] as const)(
    "one bad step of 20,000 is drawn as strongly as the curve, on a %s page",
    async (theme) => {
      const { page, close } = await browser.visit(`${server.app.url}/runs/long/charts`, { theme });
      for (const panel of ["train · loss", "train · grad_norm"]) {
        expect(await spikeStrength(page, panel)).toBeGreaterThan(0.9);
      }
      await close();
    },
  );

  test("among more runs than have room for envelopes, a spike is as strong as the lines", async () => {
    const { body } = await server.get("/api/v1/runs?limit=8&filter=experiment%3Ah200-gpt-sweep");
    const others = (body as { runs: { id: string }[] }).runs.map(({ id }) => `run=${id}`);
    await walk(`/compare?run=long&${others.join("&")}`, async (page) => {
      await soon(() => spikeStrength(page, "loss train")).toBeGreaterThan(0.9);
    });
  });

  test("compared points that were sent without steps are drawn over time", async () => {
    await walk(`/compare?run=${profiledRun}&run=long`, async (page) => {
      const panel = panelOf(page, "val_loss");
      await panel.getByText("over time").waitFor();
      await panel.locator("canvas").waitFor();
    });
  });

  test("compared points that were sent without a phase are not mixed with those of one", async () => {
    await walk(`/compare?run=${profiledRun}&run=long`, async (page) => {
      // Two clients told of the same training: one with phases, one without.
      await page.getByRole("slider", { name: "loss of 1 run", exact: true }).waitFor();
      await page.getByRole("slider", { name: "loss train of 2 runs", exact: true }).waitFor();
    });
  });

  test("a click on a spike pins its moment, which names the step; it stays, is in the address, and Esc frees it", async () => {
    await walk("/runs/long/charts", async (page) => {
      const box = await plotOf(page, "train · loss");
      const other = await plotOf(page, "train · grad_norm");
      // Two pixels beside it: a hand is not exact.
      await page.mouse.click(box.x + box.width * (spikeStep / longSteps) + 2, box.y + 60);
      await page.waitForURL(/pin=\d+-\d+&of=loss%40train/);
      await strip(page).getByRole("button", { name: "max 6.7 at step 12\u202f270" }).waitFor();
      const words = await strip(page).locator("dl").textContent();
      const read = await panelOf(page, "train · grad_norm").locator(".readout").textContent();
      expect(read).toContain("9.5");
      // On its way to the strip the pointer crosses other charts.
      await page.mouse.move(other.x + 20, other.y + 30, { steps: 5 });
      await page.mouse.move(other.x + other.width - 20, other.y + 60, { steps: 5 });
      await timersFired(page, 300);
      expect(await strip(page).locator("dl").textContent()).toBe(words);
      expect(await panelOf(page, "train · grad_norm").locator(".readout").textContent()).toBe(read);
      const bucket = pinOf(page);
      await page.reload();
      await strip(page).getByRole("button", { name: "max 6.7 at step 12\u202f270" }).click();
      await soon(() => pinOf(page)).not.toBe(bucket);
      await soon(() => strip(page).locator("dl").textContent()).toMatch(/step12\u202f270loss6\.7$/);
      await page.getByRole("link", { name: "Logs", exact: true }).click();
      // The line logged after the bad step is where the log begins.
      await soon(() => page.locator(".log-line .log-msg").first().textContent()).toBe("step 12280 done");
      await page.keyboard.press("Escape");
      await soon(() => pinOf(page)).toBeNull();
    });
  });

  test("the keyboard reads a chart, pins and frees a moment, and a screen reader hears last, least and greatest", async () => {
    await walk("/runs/long/charts", async (page) => {
      await plotOf(page, "train · loss");
      const plot = panelOf(page, "train · loss").getByRole("slider");
      const label = await plot.getAttribute("aria-label");
      expect(label).toMatch(
        /^train · loss: 20\u202f000 points, last 0\.\d+, min 0\.66 at steps .*, max 6\.7 at steps .+ to .+$/,
      );
      await plot.focus();
      await page.keyboard.press("End");
      await page.keyboard.press("ArrowLeft");
      await soon(() => plot.getAttribute("aria-valuetext")).toMatch(/^step 19\u202f9\d\d: 0\.6\d+$/);
      await page.keyboard.press("Enter");
      await page.waitForURL(/pin=\d+-\d+/);
      const first = pinOf(page);
      await page.keyboard.press("Shift+ArrowLeft");
      await soon(() => pinOf(page)).not.toBe(first);
      await page.keyboard.press("Escape");
      await soon(() => pinOf(page)).toBeNull();
      await panelOf(page, "train · loss").getByRole("button", { name: "train · loss as a table" }).click();
      const rows = panelOf(page, "train · loss").getByRole("row");
      await soon(() => rows.count()).toBe(601);
      await rows.filter({ hasText: "6.7" }).first().waitFor();
    });
  });

  test("a pinned step is the same in charts, timeline and tensors, and each tab keeps it", async () => {
    await walk(`/runs/${profiledRun}/charts`, async (page) => {
      const box = await plotOf(page, "train · loss");
      await page.mouse.click(box.x + box.width * 0.5, box.y + 60);
      await page.waitForURL(/pin=\d+-\d+/);
      const pin = pinOf(page);
      await strip(page).locator(".chip", { hasText: "forward" }).waitFor();
      await strip(page).locator("dl", { hasText: "step" }).waitFor();
      const words = await strip(page).locator("dl").textContent();
      await strip(page).getByRole("link", { name: "timeline" }).click();
      await page.waitForURL(/timeline\?.*from=\d+/);
      expect(pinOf(page)).toBe(pin);
      await soon(() => strip(page).locator("dl").textContent()).toBe(words);
      const canvas = await boxOf(page.locator(".timeline-canvas"));
      await page.mouse.move(canvas.x + 300, canvas.y + 60, { steps: 4 });
      expect(await strip(page).locator("dl").textContent()).toBe(words);
      await strip(page)
        .getByRole("link", { name: /tensors epoch \d/ })
        .click();
      await page.locator(".ridge-marked").first().waitFor();
      expect(pinOf(page)).toBe(pin);
    });
  });

  test("a moment pinned in the timeline is the step that it falls in, not an instant in which nothing lasts", async () => {
    await walk(`/runs/${profiledRun}/timeline`, async (page) => {
      const canvas = page.locator(".timeline-canvas");
      const box = await canvas.boundingBox();
      if (box === null) throw new Error("the canvas has no box");
      const at = [box.x + box.width * 0.6, box.y + 70] as const;
      await page.mouse.move(...at);
      await strip(page).locator("dt", { hasText: "step" }).waitFor();
      await page.mouse.click(...at);
      await page.waitForURL(/pin=\d+-\d+/);
      const chips = strip(page).locator(".chip");
      await soon(() => chips.count()).toBeGreaterThan(0);
      await strip(page).locator("dt", { hasText: "step" }).waitFor();
      expect((await chips.allTextContents()).filter((text) => /\d ns$/.test(text))).toEqual([]);
    });
  });

  test("on a narrow screen a moment has its spans, its lines and its ways on within the page", async () => {
    const steps = async (page: Page) => {
      const box = await plotOf(page, "train · loss");
      await page.mouse.click(box.x + box.width * 0.5, box.y + 60);
      await page.waitForURL(/pin=\d+-\d+/);
      await strip(page).locator(".chip", { hasText: "epoch" }).waitFor();
      await strip(page).getByText("no line was logged").waitFor();
      const pinned = await boxOf(strip(page).getByRole("button", { name: "pinned" }));
      expect(pinned.x + pinned.width).toBeLessThanOrEqual(390);
    };
    await walkOn(browser, `${server.app.url}/runs/${profiledRun}/charts`, steps, { width: 390, height: 844 });
  });

  test("a log scale of nothing but NaN, or of nothing above zero, keeps its axes and its marks", async () => {
    await walk("/runs/awkward/charts", async (page) => {
      await plotOf(page, "only_nan");
      await page.getByRole("button", { name: "log", exact: true }).click();
      await panelOf(page, "below_zero").getByText("500 not above 0").waitFor();
      for (const panel of ["only_nan", "below_zero"]) await plotOf(page, panel);
      await page.getByRole("button", { name: "robust range" }).click();
      await panelOf(page, "outlier").getByText("1 above ▲").waitFor();
      await follow(page, "/runs/widest");
      await page
        .getByRole("link", { name: /widest/ })
        .locator(".spark-line")
        .waitFor({ state: "attached" });
    });
  });

  test("every value axis has labels, no two alike, whatever the numbers and the scale", async () => {
    await walk("/runs/awkward/charts", async (page) => {
      for (const panel of ["outlier", "close", "huge", "below_zero"]) await plotOf(page, panel);
      await page.evaluate(`(() => {
        const { fillText } = CanvasRenderingContext2D.prototype;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
          const panel = this.canvas.closest("section")?.getAttribute("aria-label") ?? "";
          // What stands left of the drawing area belongs to the value axis.
          if (this.textAlign === "right") ((globalThis.axisTexts ??= {})[panel] ??= []).push(text);
          return fillText.call(this, text, ...rest);
        };
      })()`);
      for (const scale of ["symlog", "log", "linear"]) {
        await page.evaluate("globalThis.axisTexts = {}");
        await page.getByRole("button", { name: scale, exact: true }).click();
        for (const panel of ["outlier", "close", "huge"]) {
          const texts = () => page.evaluate<string[]>(`globalThis.axisTexts[${JSON.stringify(panel)}] ?? []`);
          await soon(async () => (await texts()).length).toBeGreaterThanOrEqual(2);
          const drawn = await texts();
          // Drawn more than once, the labels are the same again.
          const once = drawn.slice(
            0,
            drawn.indexOf(drawn[0] ?? "", 1) > 0 ? drawn.indexOf(drawn[0] ?? "", 1) : undefined,
          );
          expect(new Set(once).size).toBe(once.length);
        }
      }
    });
  });

  test("relative time counts from the start of the run, in the picture as in the readout", async () => {
    const { body } = await server.get(`/api/v1/runs/${profiledRun}`);
    const { start_ns } = body as { start_ns: string };
    const series = { runs: [profiledRun], keys: ["val_loss"], axis: "time" };
    const points = await server.post("/api/v1/series", JSON.stringify(series));
    const [first] = (points.body as { series: { x_base: string; x: number[] }[] }).series;
    const seconds = (Number(BigInt(first?.x_base ?? "0") - BigInt(start_ns)) + (first?.x[0] ?? 0)) / 1e9;
    expect(seconds).toBeGreaterThan(1);
    await walk(`/runs/${profiledRun}/charts`, async (page) => {
      await page.getByRole("button", { name: "relative" }).click();
      const panel = panelOf(page, "val · val_loss");
      await panel.scrollIntoViewIfNeeded();
      await panel.getByRole("button", { name: /as a table/ }).click();
      const firstCell = panel.getByRole("row").nth(1).getByRole("cell").first();
      const shown = async () => Number(/0:(\d+\.\d+)/.exec((await firstCell.textContent()) ?? "")?.[1]);
      await soon(shown).toBeCloseTo(seconds, 2);
    });
  });

  test("a long name keeps the end that tells it from others, and leaves room for its value", async () => {
    await walk("/runs/awkward/charts", async (page) => {
      const panel = page.locator(".chart-panel", { hasText: "q_proj" });
      const tail = panel.locator(".name-end");
      await tail.waitFor();
      expect(longName.endsWith((await tail.textContent()) ?? "?")).toBe(true);
      const [head, end] = [await boxOf(panel.locator(".chart-head")), await boxOf(tail)];
      expect(end.x + end.width).toBeLessThan(head.x + head.width);
      const readout = panel.locator(".readout");
      await soon(() => readout.textContent()).toMatch(/^−0\.000617/);
      const hiddenPx = (each: unknown) => {
        const { scrollWidth, clientWidth } = each as { scrollWidth: number; clientWidth: number };
        return scrollWidth - clientWidth;
      };
      expect(await readout.evaluate(hiddenPx)).toBe(0);
    });
  });

  test("Back undoes a zoom, one at a time", async () => {
    await walk("/runs/long/charts", async (page) => {
      const box = await plotOf(page, "train · loss");
      const from = () => new URL(page.url()).searchParams.get("from");
      const brush = (a: number, b: number) =>
        drag(page, [box.x + box.width * a, box.y + 40], [box.x + box.width * b, box.y + 40]);
      await brush(0.2, 0.8);
      await soon(from).not.toBeNull();
      const first = from();
      await page.waitForTimeout(1_100);
      await brush(0.4, 0.6);
      await soon(from).not.toBe(first);
      await page.goBack();
      await soon(from).toBe(first);
      await page.goBack();
      await soon(from).toBeNull();
      expect(page.url()).toContain("/runs/long/charts");
    });
  });

  // The last one: it makes the run longer.
  test("points that come while one looks are gathered as those before them are, so that noise does not seem to rise", async () => {
    await walk("/runs/long/charts", async (page) => {
      await plotOf(page, "train · loss");
      const panel = panelOf(page, "train · loss");
      await panel.getByRole("button", { name: "train · loss as a table" }).click();
      await soon(() => panel.getByRole("row").count()).toBe(601);
      await sendMore(server, "long", 2000);
      await soon(() => panel.getByRole("row").last().textContent()).toContain("22\u202f000");
      expect(await panel.getByRole("row").count()).toBeLessThan(680);
    });
  });
});
