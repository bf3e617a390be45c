// A person walks through the bundled sample.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createTestApp, type TestApp } from "../support/app.ts";
import { chromiumPath, openBrowser, type TestBrowser } from "./browser.ts";
import { failedPipeline, profiledRun, sendSample, sendXtrack, toFrames } from "./sample.ts";

vi.setConfig({ testTimeout: 120_000 });

/** A busy machine may need a while for what a person sees at once. */
const soon = <T>(read: () => T) => expect.poll(read, { timeout: 15_000, interval: 100 });

let server: TestApp;
let browser: TestBrowser;

describe.skipIf(chromiumPath === undefined)("in a browser", () => {
  beforeAll(async () => {
    [server, browser] = await Promise.all([createTestApp(), openBrowser()]);
    await sendSample(server);
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
  });

  async function walk(path: string, steps: (page: Page) => Promise<void>): Promise<void> {
    const visit = await browser.visit(server.app.url + path);
    try {
      await steps(visit.page);
      expect(visit.problems).toEqual([]);
    } finally {
      await visit.close();
    }
  }

  const rows = (page: Page) => page.getByRole("table", { name: "Runs" }).getByRole("row");
  const names = (page: Page) => page.locator(".grid-row .run-name").allTextContents();

  test("the runs table filters, sorts and groups, and its state is in the address", async () => {
    await walk("/runs", async (page) => {
      await page.getByText("gpt-w256-lr0.003").first().waitFor();
      await page.getByLabel("Filter runs").fill("name~gpt-w AND params.lr<0.001");
      await page.getByLabel("Filter runs").press("Enter");
      await page.getByText("3 of 3").waitFor();
      expect((await names(page)).sort()).toEqual(["gpt-w128-lr0.0003", "gpt-w256-lr0.0003", "gpt-w64-lr0.0003"]);
      expect(new URL(page.url()).searchParams.get("filter")).toBe("name~gpt-w AND params.lr<0.001");
    });
    await walk("/runs?filter=name~gpt-w&columns=metrics.val_loss.last&sort=metrics.val_loss.last", async (page) => {
      await page.getByText("12 of 12").waitFor();
      expect((await names(page))[0]).toBe("gpt-w256-lr0.003");
      await page.getByRole("columnheader", { name: "val_loss" }).getByRole("button").click();
      await page.waitForURL(/sort=-metrics/);
      await soon(async () => (await names(page))[0]).not.toBe("gpt-w256-lr0.003");
    });
    await walk("/runs?group=experiment&filter=experiment%3Ah200-gpt-sweep", async (page) => {
      const group = page.getByRole("button", { name: "h200-gpt-sweep" });
      await group.waitFor();
      const before = await rows(page).count();
      await group.click();
      await soon(() => rows(page).count()).toBeLessThan(before);
    });
  });

  test("a long list scrolls by itself and never stretches the page", async () => {
    await walk(`/runs/${profiledRun}/events`, async (page) => {
      await page.locator(".log-line").first().waitFor();
      const [over, lines] = await page.evaluate<[number, number]>(
        "[document.documentElement.scrollHeight - innerHeight, document.querySelectorAll('.log-line').length]",
      );
      expect(over).toBe(0);
      expect(lines).toBeLessThan(120);
    });
  });

  test("a filter that cannot be read says where", async () => {
    const visit = await browser.visit(`${server.app.url}/runs?filter=${encodeURIComponent("status:failed AND (lr<")}`);
    await visit.page.locator(".filter-error").waitFor();
    expect(await visit.page.locator(".filter-error").textContent()).not.toBe("");
    await visit.close();
  });

  test("a brush in one chart moves every panel and stands in the address; Esc clears it", async () => {
    await walk(`/runs/${profiledRun}/charts`, async (page) => {
      const panel = page.getByRole("region", { name: "train · loss" });
      const other = page.getByRole("region", { name: "train · grad_norm" });
      await panel.locator("canvas").waitFor();
      await other.locator("canvas").waitFor();
      const label = (region: typeof panel) => region.locator(".plot").getAttribute("aria-label");
      const whole = await label(other);
      const box = await panel.locator(".u-over").boundingBox();
      if (box === null) throw new Error("the plot has no box");
      await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 6 });
      await page.mouse.up();
      await page.waitForURL(/from=\d+&to=\d+/);
      await soon(() => label(other)).not.toBe(whole);
      await page.getByRole("link", { name: "Timeline" }).click();
      await page.getByRole("application").waitFor();
      expect(page.url()).toMatch(/timeline\?from=\d+&to=\d+/);
      await page.keyboard.press("Escape");
      await page.waitForURL((url) => !url.searchParams.has("from"));
    });
  });

  test("the cursor in one chart reads the same moment in the others", async () => {
    await walk(`/runs/${profiledRun}/charts`, async (page) => {
      const other = page.getByRole("region", { name: "train · grad_norm" }).locator(".readout");
      const panel = page.getByRole("region", { name: "train · loss" });
      await panel.locator("canvas").waitFor();
      await page.getByRole("region", { name: "train · grad_norm" }).locator("canvas").waitFor();
      const before = await other.textContent();
      const box = await panel.locator(".u-over").boundingBox();
      if (box === null) throw new Error("the plot has no box");
      await page.mouse.move(box.x + box.width * 0.1, box.y + 40);
      await page.mouse.move(box.x + box.width * 0.12, box.y + 40);
      await soon(() => other.textContent()).not.toBe(before);
    });
  });

  test("the timeline of a GPU training zooms, selects a span and adds up the window", async () => {
    await walk(`/runs/${profiledRun}/timeline`, async (page) => {
      const canvas = page.locator(".timeline-canvas");
      await canvas.waitFor();
      await page.getByRole("cell", { name: "backward" }).waitFor();
      await page
        .getByText(/3,?\s?04\d spans|3\u202f?04\d spans/)
        .first()
        .waitFor();
      const box = await canvas.boundingBox();
      if (box === null) throw new Error("the canvas has no box");
      await page.mouse.move(box.x + 500, box.y + 80);
      for (let i = 0; i < 10; i++) await page.mouse.wheel(0, -300);
      await page.waitForURL(/from=\d+/);
      await page.mouse.click(box.x + 500, box.y + 22 + 20 + 18 + 8);
      await page.getByRole("complementary", { name: "Span" }).getByRole("heading", { name: /epoch/ }).waitFor();
      const shares = await page.locator(".timeline-summary tr td:last-child").allTextContents();
      for (const share of shares) expect(Number.parseFloat(share.replace("<", ""))).toBeLessThanOrEqual(100);
      await page.getByRole("application").focus();
      await page.keyboard.press("f");
      await page.getByLabel("Highlight spans by name").fill("forward");
      await page.getByRole("button", { name: "fit all" }).click();
      await page.waitForURL((url) => !url.searchParams.has("from"));
    });
  });

  test("tensors show histograms over epochs, the gradient beside the weight", async () => {
    await walk(`/runs/${profiledRun}/tensors?tensor=tok.weight`, async (page) => {
      await page.getByRole("img", { name: "Histograms of tok.weight, 3 snapshots" }).waitFor();
      await page.getByRole("img", { name: "Histograms of tok.weight.grad, 3 snapshots" }).waitFor();
      expect(await page.locator(".ridges").first().locator("path").count()).toBe(3);
    });
  });

  test("comparing the sweep shows every run, marks the one that became NaN, and never hides it", async () => {
    const { body } = await server.get("/api/v1/runs?limit=100&filter=experiment%3Ah200-gpt-sweep");
    const all = (body as { runs: { id: string; name: string }[] }).runs.filter((run) => run.id !== profiledRun);
    expect(all).toHaveLength(14);
    const query = all.map((run) => `run=${run.id}`).join("&");
    await walk(`/compare?${query}`, async (page) => {
      await soon(() => page.locator(".legend-item").count()).toBe(14);
      await page.getByText("✕ NaN in 1").first().waitFor();
      await page.getByRole("link", { name: "Parameters" }).click();
      await page.getByRole("cell", { name: "lr", exact: true }).waitFor();
      expect(await page.locator(".diff").textContent()).toMatch(/NaN\s*✕\d+/);
      await page.getByRole("link", { name: "Parallel coordinates" }).click();
      await soon(() => page.locator(".parallel path").count()).toBe(14);
      await page.getByRole("link", { name: "Scatter" }).click();
      await page.getByText(/not drawn.*gpt-diverges-nan/).waitFor();
    });
  });

  test("a failed pipeline shows the node that failed, why, and what never ran", async () => {
    await walk(`/runs/${failedPipeline}/pipeline`, async (page) => {
      await page.getByRole("button", { name: /FloatDivideOperation/ }).waitFor();
      const details = page.getByRole("complementary", { name: "Node FloatDivideOperation" });
      await details.getByText("Division by zero is not allowed").first().waitFor();
      expect(await page.locator(".node-missing").count()).toBe(2);
    });
  });

  test("a launch is a grid of its runs", async () => {
    await walk("/launches", async (page) => {
      await page.locator("td a.mono").first().click();
      await page.getByRole("region", { name: "Grid" }).waitFor();
      expect(await page.locator(".cell-completed").count()).toBe(8);
    });
  });

  test("SQL answers with a table, and an error says where", async () => {
    await walk("/sql", async (page) => {
      await page.getByLabel("SQL query").fill("SELECT key, count() AS n FROM metrics GROUP BY key ORDER BY key");
      await page.getByLabel("SQL query").press("Control+Enter");
      await page.getByRole("cell", { name: "grad_norm" }).waitFor();
    });
  });

  test("text from users is shown as text, wherever it stands", async () => {
    const evil = "<img src=x onerror=alert(1)><script>alert(2)</script>";
    await sendXtrack(
      server,
      toFrames([
        [
          "run_start",
          {
            run_id: { id: "evil-run", exp_id: evil },
            name: evil,
            tags: { [evil]: evil },
            source: { git_branch: evil },
            env: { [evil]: evil },
          },
        ],
        ["param", { run_id: "evil-run", key: evil, value: evil }],
        ["metric", { run_id: "evil-run", key: evil, value: 1, step: 1, ctx: { phase: evil } }],
        ["log", { run_id: "evil-run", level: evil, msg: evil, logger: evil, fields: { [evil]: evil } }],
        ["artifact", { run_id: "evil-run", path: evil, type: evil, name: evil, upload: "reference" }],
        [
          "checkpoint",
          { run_id: "evil-run", step: 1, path: evil, metrics: { [evil]: 1 }, is_best: true, best_key: evil },
        ],
        ["run_end", { run_id: "evil-run", status: "failed", error: { type: evil, message: evil, traceback: evil } }],
      ]),
    );
    for (const view of [
      "/runs",
      ...["", "/charts", "/logs", "/files", "/params", "/events"].map((tab) => `/runs/evil-run${tab}`),
    ]) {
      await walk(view, async (page) => {
        await page.getByText(evil, { exact: false }).first().waitFor();
        expect(await page.locator("img, script:not([src])").count()).toBe(0);
      });
    }
  });
});
