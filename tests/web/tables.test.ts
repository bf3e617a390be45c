// Tables, lists and menus that people read every day: what they show first, that columns stand under each other, and that
// nothing is printed over something else.

import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "./browser.ts";
import { drained, failedPipeline, profiledRun, sendXtrack, toFrames } from "./sample.ts";
import { suiteSite } from "./site.ts";
import { boxOf, drag, follow, soon, walkOn, zoomTimeline } from "./walking.ts";

const [server, browser] = suiteSite("sample");
const walk = (path: string, steps: (page: Page) => Promise<void>) => walkOn(browser, server.app.url + path, steps);
const longMetric = "train/encoder.layers.11.self_attn.q_proj.weight/grad_norm/of/every/head/in/the/whole/encoder/stack";

describe.skipIf(chromiumPath === undefined)("tables in a browser", () => {
  beforeAll(async () => {
    for (let n = 0; n < 12; n++) {
      const id = `swept-${n}`;
      await sendXtrack(
        server,
        toFrames([
          ["run_start", { run_id: { id, exp_id: "swept" }, name: id, tags: ["good", "kept"] }],
          ["param", { run_id: id, key: "seed", value: n }],
          ["param", { run_id: id, key: "output_dir", value: `/tmp/${n}` }],
          ["param", { run_id: id, key: "optimizer", value: n % 2 === 0 ? "adam" : "sgd" }],
          ["metric", { run_id: id, key: "loss", value: n / 3, step: 1 }],
          ["metric", { run_id: id, key: longMetric, value: n, step: 2 }],
          ["log", { run_id: id, level: "info", msg: "a line" }],
          ["run_end", { run_id: id, status: "completed" }],
        ]),
      );
    }
    await sendWorkers();
    await drained(server);
  }, 240_000);

  /** Four workers of one run, each with a throughput of its own at every step. */
  async function sendWorkers(): Promise<void> {
    const id = "workers";
    for (const [at, rate] of [100, 200, 300, 400].entries())
      await sendXtrack(
        server,
        toFrames(
          [
            ["run_start", { run_id: { id, exp_id: "swept" }, name: id }],
            ...[1, 2, 3].map((step): [string, object] => [
              "metric",
              { run_id: id, key: "throughput", value: rate, step },
            ]),
          ],
          Date.now() - 1000,
          `w${at}`,
        ),
      );
  }

  test("the runs table first shows what people choose, and says how many tags there are", async () => {
    await walk("/runs?filter=experiment%3Aswept", async (page) => {
      await page.getByRole("columnheader", { name: /^lr/ }).waitFor();
      expect(await page.getByRole("columnheader", { name: /^seed/ }).count()).toBe(0);
      const first = page.getByRole("row").filter({ hasText: "swept-3" });
      await first.getByText("good", { exact: true }).waitFor();
      expect(await first.getByText("+1", { exact: true }).getAttribute("title")).toBe("kept");
    });
  });

  test("the runs table says which formats a run was recorded in, and its overview shows them on one clock", async () => {
    await walk("/runs", async (page) => {
      await page.setViewportSize({ width: 1280, height: 800 });
      const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "gpt-128-profiled" }) });
      await row.getByText("cirron", { exact: true }).waitFor();
      await row.getByText("xtrack", { exact: true }).waitFor();
      // All the usual columns fit.
      const last = await boxOf(page.getByRole("columnheader", { name: /^took/ }));
      expect(last.x + last.width).toBeLessThanOrEqual(1280);
      await page.goto(`${server.app.url}/runs/${profiledRun}`);
      await page.getByText("Recorded in cirron and xtrack, on one clock.").waitFor();
      const strip = page.getByRole("region", { name: "On one clock" }).locator("canvas");
      await strip.waitFor();
      // A piece of it becomes the window of every panel. What is loaded above it may still move it.
      const choose = async (): Promise<string> => {
        const box = await boxOf(strip);
        await drag(page, [box.x + box.width * 0.4, box.y + 20], [box.x + box.width * 0.6, box.y + 20]);
        return page.url();
      };
      await soon(choose).toMatch(/from=\d+/);
    });
  });

  test("a long name is heard whole, in the table and as the heading of its run", async () => {
    await walk("/runs", async (page) => {
      await page.getByRole("link", { name: failedPipeline, exact: true }).click();
      await page.getByRole("heading", { name: failedPipeline, exact: true }).waitFor();
    });
  });

  test("on a phone the end of a name is on the screen, and every column can be scrolled to", async () => {
    const phone = { width: 390, height: 844 };
    const name = "gpt-128-profiled";
    const endsWithin = `((heading) => {
      const texts = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT);
      let last = null;
      while (texts.nextNode()) last = texts.currentNode;
      const range = document.createRange();
      range.setStart(last, last.length - 1);
      range.setEnd(last, last.length);
      return range.getBoundingClientRect().right - heading.getBoundingClientRect().right;
    })(document.querySelector("h1"))`;
    const ofRun = async (page: Page) => {
      await page.getByRole("heading", { name, exact: true }).waitFor();
      expect(await page.evaluate<number>(endsWithin)).toBeLessThanOrEqual(1);
      // Numbers are nothing without their names.
      const metric = page.getByRole("region", { name: "metrics" }).getByRole("cell", { name: /^tokens_per_s/ });
      expect((await boxOf(metric)).width).toBeGreaterThan(80);
    };
    await walkOn(browser, `${server.app.url}/runs/${profiledRun}`, ofRun, phone);
    const ofTable = async (page: Page) => {
      await page.locator(".run-name").first().waitFor();
      await page.locator(".grid-scroll").evaluate((element) => {
        element.scrollLeft = element.scrollWidth;
      });
      // The cell itself is on top, not a column that stays in place.
      const took = page.getByRole("columnheader", { name: /^took/ });
      const box = await boxOf(took);
      expect(box.x + box.width).toBeLessThanOrEqual(390);
      await took.click({ trial: true, position: { x: 4, y: 10 } });
      const status = page.getByRole("columnheader", { name: /^train loss/ }).first();
      await status.click({ trial: true, position: { x: 4, y: 10 } });
    };
    await walkOn(browser, `${server.app.url}/runs`, ofTable, phone);
  });

  test("a group of runs is folded, and says the median, the least and the greatest of its values", async () => {
    await walk("/runs?filter=experiment%3Aswept&group=params.optimizer&columns=metrics.loss.last", async (page) => {
      const group = page.locator(".grid-group", { hasText: "adam" });
      await group.waitFor();
      await group.getByText(/^~1\.\d+ 0…3\.\d$/).waitFor();
      // Without its beginning a number would be another one.
      await follow(page, `${new URL(page.url()).pathname}${new URL(page.url()).search}&widths=metrics.loss.last:48`);
      const narrow = group.getByRole("cell").filter({ hasText: "~1" });
      await soon(async () => (await boxOf(narrow)).width).toBe(48);
      expect((await boxOf(narrow.getByText(/^~1/))).x).toBeGreaterThanOrEqual((await boxOf(narrow)).x);
      const rows = page.locator(".grid-row .run-name");
      const all = await rows.count();
      await group.getByRole("button").first().click();
      await soon(() => rows.count()).toBeLessThan(all);
    });
  });

  test("events stand in columns, whatever their type and text", async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const prepare = (page: Page) =>
      void page.route("**/events?*", async (route) => {
        await released;
        await route.continue();
      });
    const columnsLineUp = async (page: Page) => {
      // While the answer is on its way, that is said.
      await page.getByLabel("Find in the text").waitFor();
      await soon(() => page.getByLabel("Loading").count()).toBe(1);
      release();
      await page.locator(".log-line").nth(6).waitFor();
      for (const column of [1, 2, 3]) {
        const places = await page.locator(`.log-line > :nth-child(${column})`).evaluateAll((cells) =>
          cells.map((cell) => {
            const { left, width } = (
              cell as unknown as { getBoundingClientRect(): { left: number; width: number } }
            ).getBoundingClientRect();
            return `${Math.round(left)} ${Math.round(width)}`;
          }),
        );
        expect(new Set(places).size).toBe(1);
      }
    };
    await walkOn(browser, `${server.app.url}/runs/swept-1/events`, columnsLineUp, { prepare });
  });

  test("a launch offers the metrics of its own runs, in a list no wider than the page", async () => {
    const { body } = await server.get("/api/v1/launches");
    const [launch] = (body as { launches: { id: string; attempt: number }[] }).launches;
    await walk(`/launches/${launch?.id}/${launch?.attempt}`, async (page) => {
      const colour = page.getByLabel("colour");
      await colour.waitFor();
      expect(await colour.locator("option", { hasText: "encoder.layers" }).count()).toBe(0);
      const box = await boxOf(colour);
      expect(box.x + box.width).toBeLessThanOrEqual(1400);
    });
  });

  test("a span that has not arrived says so calmly", async () => {
    const visit = await browser.visit(`${server.app.url}/runs/${profiledRun}/timeline`);
    const { page } = visit;
    await page.locator(".timeline-summary td").first().waitFor();
    await page.route("**/spans/by-id/*", (route) =>
      route.fulfill({ status: 404, json: { code: "span_not_found", message: "No such span.", hint: "" } }),
    );
    const box = await zoomTimeline(page);
    // The second row of the first lane, which holds an epoch.
    const panel = page.getByRole("complementary", { name: "Span" });
    // The boxes of the new window come a little later: one that merges many spans has no details.
    await soon(async () => {
      await page.mouse.click(box.x + 500, box.y + 22 + 20 + 18 + 8);
      return await panel.count();
    }).toBe(1);
    await panel.getByText(/^Spans within it have come/).waitFor();
    expect(await panel.getByRole("alert").count()).toBe(0);
    await visit.close();
  });

  test("a suggestion for a query and what it means do not lie over each other", async () => {
    await walk("/sql", async (page) => {
      // Who types at once does so before the page has heard which tables there are.
      const typed = Promise.withResolvers<void>();
      await page.route("**/sql/schema", async (route) => {
        await typed.promise;
        await route.continue();
      });
      await page.reload();
      await page.getByLabel("SQL query").fill("SELECT * FROM met");
      typed.resolve();
      const option = page.getByRole("option", { name: /^metrics/ }).first();
      await option.waitFor();
      const [name, note] = [await boxOf(option.locator("code")), await boxOf(option.locator(".muted"))];
      expect(name.x + name.width).toBeLessThanOrEqual(note.x);
      await page.unroute("**/sql/schema");
    });
  });

  test("headings of numbers stand above them, and a table of two columns gives its values room", async () => {
    await walk(`/runs/${profiledRun}`, async (page) => {
      const table = page.getByRole("region", { name: "metrics", exact: true });
      await table.getByRole("cell", { name: "loss train" }).waitFor();
      const edges = await page.evaluate<number[][]>(
        `[...document.querySelectorAll(".metrics-table :is(th, td):nth-child(2)")].map((cell) => {
          const text = document.createRange();
          text.selectNodeContents(cell);
          return [Math.round(text.getBoundingClientRect().right)];
        })`,
      );
      expect(new Set(edges.flat()).size).toBe(1);
    });
    await walk(`/runs/${profiledRun}/params`, async (page) => {
      const row = page.getByRole("region", { name: "environment" }).getByRole("row").first();
      const [name, value] = [await boxOf(row.getByRole("cell").first()), await boxOf(row.getByRole("cell").last())];
      expect(value.width).toBeGreaterThan(name.width);
    });
  });

  test("a failed run says its error once", async () => {
    await walk(`/runs/${failedPipeline}`, async (page) => {
      await page.getByRole("alert").getByText("Division by zero is not allowed").waitFor();
      expect(await page.getByText("Division by zero").count()).toBe(1);
    });
  });

  test("a long name leaves its tags in sight, within their cell", async () => {
    const tags = ["first-of-the-tags", "second", "third"];
    await sendXtrack(server, toFrames([["run_start", { run_id: "tagged", name: "a long name ".repeat(30), tags }]]));
    await walk("/runs?filter=id:tagged", async (page) => {
      const chips = page.locator(".run-name ~ .chip");
      await soon(() => chips.count()).toBe(2);
      const cell = await boxOf(page.getByRole("cell").filter({ has: chips.first() }));
      for (const chip of await chips.all()) {
        const { x, width } = await boxOf(chip);
        const text = await chip.evaluate((each) => (each as unknown as { scrollWidth: number }).scrollWidth);
        expect([width >= 26, x + width <= cell.x + cell.width, text <= width + 1]).toEqual([true, true, true]);
      }
    });
  });

  test("the example of the best runs has none whose value is not a number", async () => {
    await walk("/sql", async (page) => {
      await page.getByRole("button", { name: "the best runs" }).click();
      await page.getByLabel("SQL query").press("Control+Enter");
      await soon(() => page.getByRole("cell", { name: /^\d\.\d/ }).count()).toBeGreaterThan(5);
      expect(await page.getByRole("cell", { name: "NaN" }).count()).toBe(0);
    });
  });

  test("a failed pipeline is told by the names of its nodes, in words that begin with a word, and can be read", async () => {
    await walk(`/runs/${failedPipeline}/integrity`, async (page) => {
      const records = page.getByRole("region", { name: "Completeness" });
      await records.getByText("FloatCollectValueProbe").waitFor();
    });
    await walk(`/runs/${failedPipeline}/post-mortem`, async (page) => {
      await page.getByText(/^last record/).waitFor();
    });
    await walk(`/runs/${failedPipeline}/pipeline`, async (page) => {
      await page.setViewportSize({ width: 1280, height: 800 });
      const cards = page.locator(".node-card");
      await soon(async () => (await cards.last().boundingBox())?.width ?? 0).toBeGreaterThan(145);
      const edge = await boxOf(page.getByRole("complementary", { name: /^Node/ }));
      for (const card of await cards.all()) {
        const box = await boxOf(card);
        expect(box.x + box.width).toBeLessThanOrEqual(edge.x);
      }
    });
  });

  test("the time of compared runs has a line for each that has spans, and names the others once", async () => {
    await walk(`/compare?run=${profiledRun}&run=swept-1&run=swept-2&tab=time`, async (page) => {
      await page.getByText("without spans: swept-1, swept-2").waitFor();
      const cell = page.getByRole("row").filter({ hasText: "backward" }).getByRole("cell").nth(1);
      expect(await cell.locator("[title]").count()).toBe(1);
    });
  });

  test("a weight and its gradient begin at the same height", async () => {
    await walk(`/runs/${profiledRun}/tensors?tensor=blocks.2.ln1.weight`, async (page) => {
      await page.setViewportSize({ width: 1280, height: 800 });
      await soon(() => page.locator(".tensor-head").count()).toBe(2);
      const [weight, gradient] = await page.locator(".tensor-head").all();
      expect((await boxOf(weight as Locator)).height).toBe((await boxOf(gradient as Locator)).height);
    });
  });

  test("paper has dates, the screen says how long ago", async () => {
    await walk("/runs/swept-1/report", async (page) => {
      const time = page.getByRole("region", { name: "run", exact: true }).locator("time").first();
      await time.getByText(/ago|now/).waitFor();
      expect(await time.locator(".print-only").isVisible()).toBe(false);
      await page.emulateMedia({ media: "print" });
      await time.locator(".print-only", { hasText: /^\d{4}-\d\d-\d\d/ }).waitFor();
      expect(await time.getByText(/ago|now/).isVisible()).toBe(false);
    });
  });

  test("the line over several workers is their mean, and each can be seen alone", async () => {
    await walk("/runs/workers/charts", async (page) => {
      const panel = page.getByRole("region", { name: "throughput", exact: true });
      await soon(() => panel.locator(".readout").textContent()).toContain("250");
      await page.getByRole("button", { name: "per worker" }).click();
      await panel.getByRole("button", { name: "w3" }).waitFor();
    });
  });
});
