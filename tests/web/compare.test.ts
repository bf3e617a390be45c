// A person compares runs: two, some, a hundred.

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "./browser.ts";
import { drained, sendXtrack, toFrames } from "./sample.ts";
import { suiteSite } from "./site.ts";
import { boxOf, panelOf, plotOf, soon, walkOn } from "./walking.ts";

const runsTotal = 100;
const [server, browser] = suiteSite("empty");

describe.skipIf(chromiumPath === undefined)("comparing in a browser", () => {
  beforeAll(async () => {
    const startMs = Date.now() - 3_600_000;
    await sendXtrack(server, Buffer.concat(Array.from({ length: runsTotal }, (_, n) => toRun(n, startMs))));
    await drained(server);
  }, 180_000);

  const runs = (count: number) => Array.from({ length: count }, (_, n) => `run=sweep-${n}`).join("&");

  async function walk(query: string, steps: (page: Page, asked: string[]) => Promise<void>): Promise<void> {
    const asked: string[] = [];
    const prepare = (page: Page) =>
      void page.on("request", (request) => asked.push(`${request.url()} ${request.postData() ?? ""}`));
    await walkOn(browser, `${server.app.url}/compare?${query}`, (page) => steps(page, asked), { prepare });
  }

  const panel = (page: Page, name: string) => page.getByRole("region", { name });
  const swatches = (page: Page) =>
    page.evaluate<string[]>(
      "[...document.querySelectorAll('.legend-item .swatch')].map((each) => getComputedStyle(each).backgroundColor)",
    );

  test("a hundred runs are asked for together, a tab at a time, and drawn", async () => {
    await walk(runs(runsTotal), async (page, asked) => {
      await panel(page, "loss train").getByRole("slider", { name: "of 100 runs" }).locator("canvas").first().waitFor();
      await soon(() => page.locator(".chart-panel canvas").count()).toBe(3);
      const compared = asked.filter((url) => url.includes("/api/v1/compare"));
      expect(compared.every((url) => url.includes("part="))).toBe(true);
      expect(compared.some((url) => /part=(spans|tensors)/.test(url))).toBe(false);
      expect(compared.length).toBeLessThanOrEqual(3);
      expect(asked.filter((url) => url.includes("/api/v1/series")).length).toBeLessThanOrEqual(3);
      expect(new Set(await swatches(page)).size).toBe(runsTotal);
    });
  });

  test("the cursor stands at the same step in every panel, however fast each run came to it", async () => {
    const startMs = Date.now() - 3_600_000;
    const pace = (id: string, steps: number, stepMs: number) =>
      Array.from({ length: steps }, (_, step) =>
        toFrames(
          [
            ...(step === 0 ? [["run_start", { run_id: { id }, name: id }] as const] : []),
            ["metric_batch", { run_id: id, metrics: { loss: 1 / (step + 1), rate: step }, step }],
          ],
          startMs + step * stepMs,
          id,
          step === 0 ? 1 : step + 2,
        ),
      );
    await sendXtrack(server, Buffer.concat([...pace("paced-slow", 40, 500), ...pace("paced-fast", 400, 10)]));
    await drained(server);
    await walk("run=paced-slow&run=paced-fast", async (page) => {
      const lossBox = await plotOf(page, "loss");
      const rateBox = await plotOf(page, "rate");
      await page.mouse.move(lossBox.x + lossBox.width / 2, lossBox.y + 40);
      const line = panelOf(page, "rate").locator(".u-cursor-x");
      const share = async () => ((await boxOf(line)).x - rateBox.x) / rateBox.width;
      await soon(share).toBeCloseTo(0.5, 1);
    });
  });

  test("metrics with long names are told apart by their ends", async () => {
    const key = (name: string) => `encoder/layers.11.${"deep.".repeat(12)}${name}`;
    for (const id of ["long-a", "long-b"]) {
      const metrics = { [key("grad_norm")]: 1, [key("weight_norm")]: 2 };
      const events = [
        ["run_start", { run_id: { id }, name: id }],
        ["metric_batch", { run_id: id, step: 1, metrics }],
      ] as const;
      await sendXtrack(server, toFrames(events, Date.now(), id));
    }
    await walk("run=long-a&run=long-b&tab=params", async (page) => {
      for (const name of ["grad_norm", "weight_norm"]) {
        const cell = page.locator(".diff td", { hasText: name });
        const end = await boxOf(cell.locator(".name-end"));
        const { x, width } = await boxOf(cell);
        expect(end.x + end.width).toBeLessThanOrEqual(x + width);
      }
    });
  });

  test("two runs have colours that are far apart, and a run keeps its own when another is added or left out", async () => {
    await walk("run=sweep-7&run=sweep-3", async (page) => {
      await soon(async () => (await swatches(page)).length).toBe(2);
      const [seventh, third] = await swatches(page);
      expect([seventh, third]).toEqual(["rgb(0, 114, 178)", "rgb(213, 94, 0)"]);
      await page.getByLabel("Add a run by name").fill("seed11");
      await page.getByRole("button", { name: /seed11$/ }).click();
      await soon(async () => (await swatches(page)).length).toBe(3);
      await page.locator(".legend-item", { hasText: "seed7" }).hover();
      await page.getByRole("button", { name: /^Leave out .*seed7$/ }).click();
      await soon(async () => (await swatches(page)).length).toBe(2);
      expect((await swatches(page))[0]).toBe(third);
    });
  });

  test("a run that is gone is left out with a word, and can be dropped", async () => {
    await walk("run=sweep-1&run=long-gone&run=sweep-2", async (page) => {
      await page.getByRole("status").getByText("long-gone").waitFor();
      await panel(page, "loss train").locator("canvas").first().waitFor();
      await page.getByRole("button", { name: "drop" }).click();
      await page.waitForURL((url) => !url.search.includes("long-gone"));
      await soon(() => page.getByText("long-gone").count()).toBe(0);
    });
  });

  test("the pointer reads every run at the same step, sorted, with the distance to the run they are measured by", async () => {
    await walk(`${runs(10)}&base=sweep-4`, async (page) => {
      const plot = panel(page, "loss train").locator(".u-over");
      await plot.hover({ position: { x: 120, y: 60 } });
      const table = page.getByRole("region", { name: "Values under the pointer" });
      await soon(() => table.getByRole("row").count()).toBe(10);
      const cells = await page.evaluate<string[][]>(
        "[...document.querySelectorAll('.hover-table tr')].map((row) => [...row.cells].map((cell) => cell.textContent))",
      );
      const values = cells.map((row) => Number(row[2]));
      expect(values).toEqual(values.toSorted((a, b) => a - b));
      const base = cells.find((row) => row[1]?.endsWith("seed4"));
      expect(base?.[3]).toBe("");
      expect(cells.filter((row) => /^[+−]/.test(row[3] ?? ""))).toHaveLength(9);
    });
  });

  test("a run is hidden with its eye, runs are grouped by a parameter with their mean, and the address keeps it", async () => {
    await walk(runs(6), async (page) => {
      await page.getByRole("slider", { name: "loss train of 6 runs" }).waitFor();
      await page.getByRole("button", { name: /^Hide .*seed2$/ }).click();
      await page.getByRole("slider", { name: "loss train of 5 runs" }).waitFor();
      await page.getByLabel("group").selectOption({ label: "optimizer" });
      await page.getByRole("slider", { name: "loss train of 2 groups" }).waitFor();
      await page.reload();
      await page.getByRole("slider", { name: "loss train of 2 groups" }).waitFor();
      await page.getByRole("button", { name: /^Show .*seed2$/ }).waitFor();
    });
  });

  test("parallel coordinates and scatter fill the page, coloured by a metric", async () => {
    await walk(`${runs(20)}&tab=parallel&colour=metrics.loss@train`, async (page) => {
      const picture = page.getByRole("img", { name: /^Parallel coordinates of 20 runs/ });
      await soon(async () => (await picture.boundingBox())?.height ?? 0).toBeGreaterThan(600);
      expect((await picture.boundingBox())?.width ?? 0).toBeGreaterThan(1000);
      await page.getByRole("link", { name: "Scatter" }).click();
      const points = page.locator(".fill-picture circle");
      await soon(() => points.count()).toBe(20);
      const colours = await page.evaluate<string[]>(
        "[...document.querySelectorAll('.fill-picture circle')].map((each) => each.getAttribute('fill'))",
      );
      expect(new Set(colours).size).toBeGreaterThan(10);
      await page.getByLabel("across").selectOption({ label: "optimizer" });
      await page.waitForURL(/x=params.optimizer/);
    });
  });

  test("charts are found by a regular expression", async () => {
    await walk(runs(3), async (page) => {
      await page.getByLabel("Find metrics").fill("^(train|val) .*loss$");
      await soon(() => page.locator(".chart-panel").count()).toBe(2);
    });
  });
});

/** Run n falls the faster the greater n is, and is slower to run, so that one moment is another step in each. */
function toRun(n: number, startMs: number): Buffer {
  const id = `sweep-${n}`;
  const train = { phase: "train" };
  return toFrames(
    [
      ["run_start", { run_id: { id, exp_id: "sweep" }, name: `a-sweep-with-a-long-name-seed${n}` }],
      ["param", { run_id: id, key: "lr", value: (n % 5) / 1000 }],
      ["param", { run_id: id, key: "optimizer", value: n % 2 === 0 ? "adam" : "sgd" }],
      ...Array.from({ length: 40 }, (_, step): [string, object] => [
        "metric_batch",
        {
          run_id: id,
          step,
          metrics: { loss: 4 / (1 + step * (n + 1)) + n / 50, grad_norm: 1 / (1 + step) },
          ctx: train,
        },
      ]),
      ["metric", { run_id: id, key: "val_loss", value: n, step: 39, ctx: { phase: "val" } }],
      ["run_end", { run_id: id, status: "completed" }],
    ],
    startMs + n * 1000,
  );
}
