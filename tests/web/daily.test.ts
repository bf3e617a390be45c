// Small things of every day: a query and where its rows lead, a file of a run looked at in place.

import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "./browser.ts";
import { drained, sendXtrack, toFrames } from "./sample.ts";
import { suiteSite } from "./site.ts";
import { boxOf, panelOf, soon, walkOn } from "./walking.ts";

const [server, browser] = suiteSite("empty");
/** One white pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=",
  "base64",
);
const longParam = "a.very.realistic.parameter.name.for.hydra.config.optimizer.lr";
const longMetric = "train/encoder.layers.11.self_attn.q_proj.weight/grad_norm";

describe.skipIf(chromiumPath === undefined)("every day, in a browser", () => {
  beforeAll(async () => {
    const id = "daily";
    await sendXtrack(
      server,
      toFrames(
        [
          ["run_start", { run_id: { id, exp_id: "days" }, name: "a day" }],
          ["param", { run_id: id, key: longParam, value: 0.000123 }],
          ["param", { run_id: id, key: "x".repeat(200), value: 7 }],
          ["metric", { run_id: id, key: longMetric, value: 1.25, step: 1 }],
          ["metric", { run_id: id, key: longMetric, value: 0.75, step: 2 }],
          ["artifact", { run_id: id, path: "/tmp/plot.png", type: "image", name: "plot.png" }],
          ["log", { run_id: id, level: "info", msg: "the last line" }],
          ["run_end", { run_id: id, status: "completed" }],
        ],
        Date.now() - 60_000,
      ),
    );
    const wide = Array.from(
      { length: 60 },
      (_, i) => `layer_${String(i).padStart(2, "0")}/${i % 2 ? "weight" : "bias"}`,
    );
    await sendXtrack(
      server,
      toFrames([
        ["run_start", { run_id: { id: "wide", exp_id: "days" }, name: "many metrics" }],
        ...[1, 2, 3].map((step): [string, object] => [
          "metric_batch",
          {
            run_id: "wide",
            step,
            metrics: { loss: 1 / step, ...Object.fromEntries(wide.map((key, i) => [key, i * step])) },
          },
        ]),
        ["run_end", { run_id: "wide", status: "completed" }],
      ]),
    );
    const put = (name: string, body: string | Uint8Array) =>
      fetch(`${server.app.url}/v1/runs/${id}/artifacts/${name}`, { method: "PUT", body: body as string });
    expect((await put("plot.png", png)).status).toBe(201);
    expect((await put("notes.txt", "<b>not bold</b>\nsecond line")).status).toBe(201);
    await sendService();
    await drained(server);
  }, 180_000);

  /** A call to a language model, as an instrumented service tells it. */
  async function sendService(): Promise<void> {
    const toList = (values: Record<string, string | number>) =>
      Object.entries(values).map(([key, value]) => ({
        key,
        value: typeof value === "string" ? { stringValue: value } : { intValue: value },
      }));
    const resource = {
      "service.name": "answers",
      "tributary.run.id": "service",
      "host.name": "node-4",
      "vcs.ref.head.revision": "5f3c2a91d0",
      "telemetry.sdk.version": "1.38.0",
      replicas: 3,
    };
    const attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "asked-for",
      "gen_ai.response.model": "answered-by",
      "gen_ai.usage.input_tokens": 12_345,
      "gen_ai.usage.output_tokens": 67,
    };
    const startNs = BigInt(Date.now() - 5000) * 1_000_000n;
    const span = {
      traceId: "5b8efff798038103d269b633813fc60c",
      spanId: "eee19b7ec3c1b174",
      name: "chat answered-by",
      kind: 3,
      startTimeUnixNano: String(startNs),
      endTimeUnixNano: String(startNs + 900_000_000n),
      attributes: toList(attributes),
    };
    const request = {
      resourceSpans: [{ resource: { attributes: toList(resource) }, scopeSpans: [{ spans: [span] }] }],
    };
    expect((await server.post("/v1/otlp/v1/traces", JSON.stringify(request))).status).toBe(200);
  }

  const walk = (path: string, steps: (page: Page) => Promise<void>) => walkOn(browser, server.app.url + path, steps);

  test("a run id in a result leads to the run, the result is saved as a file, and the query is remembered", async () => {
    const query = "SELECT run_id, count() AS points FROM metrics GROUP BY run_id";
    await walk("/sql", async (page) => {
      await page.getByLabel("SQL query").fill(query);
      await page.getByLabel("SQL query").press("Control+Enter");
      await page.getByRole("link", { name: "daily" }).waitFor();
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "csv" }).click(),
      ]);
      expect(await readFile(await file.path(), "utf8")).toContain("daily");
      await page.getByRole("link", { name: "daily" }).click();
      await page.waitForURL(/\/runs\/daily/);
      await page.goto(`${server.app.url}/sql`);
      await page.getByRole("region", { name: "asked before" }).getByRole("button", { name: query }).click();
      await soon(() => page.getByLabel("SQL query").inputValue()).toBe(query);
    });
  });

  test("an image and a text of a run are shown, the text as text", async () => {
    await walk("/runs/daily/files", async (page) => {
      await page.getByRole("button", { name: "Show plot.png" }).click();
      const image = page.getByRole("img", { name: "plot.png" });
      await image.waitFor();
      await soon(() => page.evaluate<number>("document.querySelector('.file-image').naturalWidth")).toBe(1);
      await page.getByRole("button", { name: "Show notes.txt" }).click();
      await page.getByText("<b>not bold</b>").waitFor();
      // The run has no checkpoints: no table without rows says so.
      expect(await page.getByRole("table").count()).toBe(1);
    });
  });

  test("the overview says how it went, with curves, parameters and the last lines, and no name pushes a value out", async () => {
    await walk("/runs/daily", async (page) => {
      await page
        .getByRole("region", { name: "Verdict" })
        .getByText(/^Completed after/)
        .waitFor();
      await page
        .getByRole("link", { name: /grad_norm/ })
        .first()
        .waitFor();
      await page.getByRole("region", { name: "Last lines" }).getByText("the last line").waitFor();
      const panel = await boxOf(panelOf(page, "parameters"));
      const value = await boxOf(panelOf(page, "parameters").getByText("0.000123"));
      expect(value.x + value.width).toBeLessThanOrEqual(panel.x + panel.width);
      const numbers = page.getByRole("region", { name: "metrics" }).getByRole("cell", { name: "0.75" });
      const metrics = await boxOf(page.getByRole("region", { name: "metrics" }));
      for (const cell of await numbers.all()) {
        const box = await boxOf(cell);
        expect(box.x + box.width).toBeLessThanOrEqual(metrics.x + metrics.width);
      }
      // The end of a long name, which tells it apart, is on screen.
      await page.getByRole("region", { name: "metrics" }).locator(".name-end", { hasText: "grad_norm" }).waitFor();
    });
    await walk("/runs/daily/params", async (page) => {
      const panel = await boxOf(panelOf(page, "parameters"));
      const value = await boxOf(panelOf(page, "parameters").getByText("0.000123"));
      expect(value.x + value.width).toBeLessThanOrEqual(panel.x + panel.width);
    });
  });

  test("a service says where it runs, and a call to a model which one answered and with how many tokens", async () => {
    await walk("/runs/service", async (page) => {
      const environment = page.getByRole("region", { name: "environment" });
      await environment.getByText("1.38.0").waitFor();
      await page.getByText("@5f3c2a91").waitFor();
      const parameters = page.getByRole("region", { name: "parameters" });
      await parameters.getByText("replicas").waitFor();
      expect(await parameters.getByText("node-4").count()).toBe(0);
    });
    await walk("/runs/service/timeline?find=chat", async (page) => {
      await page.locator(".timeline-summary td").first().waitFor();
      await page.keyboard.press("n");
      const facts = page.getByRole("complementary", { name: "Span" }).locator("dl");
      await soon(() => facts.textContent()).toContain(
        "operationchatmodelanswered-byinput tokens12\u202f345output tokens67",
      );
    });
  });

  test("many metrics are asked for together, found by a pattern, closed, put in front and sized, and a link shows the same", async () => {
    let link = "";
    await walk("/health", async (page) => {
      let asked = 0;
      page.on("request", (request) => {
        if (request.url().includes("/api/v1/series")) asked++;
      });
      await page.goto(`${server.app.url}/runs/wide/charts`);
      await soon(() => page.locator(".chart-panel canvas").count()).toBeGreaterThan(8);
      expect(asked).toBeLessThanOrEqual(4);
      // Only what is near the screen is made.
      expect(await page.locator(".panel-place").count()).toBe(61);
      expect(await page.locator(".chart-panel").count()).toBeLessThan(61);
      const widths = await page.evaluate<number[]>(
        "[...document.querySelectorAll('.chart-panel')].map((each) => Math.round(each.getBoundingClientRect().width))",
      );
      expect(Math.max(...widths) - Math.min(...widths)).toBeLessThanOrEqual(1);
      await page.getByLabel("Find metrics").fill("layer_0[0-3]/");
      await soon(() => page.locator(".chart-panel").count()).toBe(4);
      await page.locator("h2 button", { hasText: "layer_00" }).click();
      await soon(() => page.locator(".chart-panel").count()).toBe(3);
      await page.getByRole("region", { name: "layer_03/weight" }).hover();
      await page.getByRole("button", { name: "Put layer_03/weight in front" }).click();
      await page.getByRole("region", { name: "pinned" }).waitFor();
      await page.getByRole("button", { name: "log", exact: true }).click();
      await page.getByLabel("smooth").fill("0.8");
      await page.getByRole("button", { name: "large" }).click();
      await page.waitForURL(/size=large/);
      link = page.url().slice(server.app.url.length);
    });
    // Another browser, which remembers nothing.
    await walk(link, async (page) => {
      await page.getByRole("region", { name: "pinned" }).getByRole("region", { name: "layer_03/weight" }).waitFor();
      expect(await page.locator(".chart-panel").count()).toBe(3);
      expect(await page.getByRole("button", { name: "log", exact: true }).getAttribute("aria-pressed")).toBe("true");
      expect(await page.getByLabel("smooth").inputValue()).toBe("0.8");
    });
  });
});
