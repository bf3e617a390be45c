// Ten thousand runs in the table: only what is on screen exists, and filtering, sorting and paging stay quick.

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createTestApp, type TestApp } from "../support/app.ts";
import { chromiumPath, openBrowser, type TestBrowser } from "./browser.ts";
import { drained, sendXtrack, toFrames } from "./sample.ts";

vi.setConfig({ testTimeout: 120_000 });

const runsTotal = 10_000;
let server: TestApp;
let browser: TestBrowser;

describe.skipIf(chromiumPath === undefined)("ten thousand runs", () => {
  beforeAll(async () => {
    [server, browser] = await Promise.all([createTestApp(), openBrowser()]);
    const startMs = Date.now() - runsTotal * 1000;
    for (let first = 0; first < runsTotal; first += 1000) {
      const runs = Array.from({ length: 1000 }, (_, i) => toRun(first + i, startMs));
      await sendXtrack(server, Buffer.concat(runs));
    }
    await drained(server);
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
  });

  test("the table shows them all by scrolling, holds few rows, and filters and sorts by a metric", async () => {
    const { page, problems, close } = await browser.visit(
      `${server.app.url}/runs?columns=params.lr&columns=metrics.loss.last&sort=metrics.loss.last`,
    );
    await page.getByText(`of ${"10\u202f000"}`).waitFor();
    const names = () => page.locator(".grid-row .run-name").allTextContents();
    expect((await names())[0]).toBe("run 9999");
    expect((await names()).length).toBeLessThan(80);
    await page.locator(".grid-scroll").evaluate((element) => {
      element.scrollTop = 5000;
    });
    await expect.poll(async () => (await names()).includes("run 9820"), { timeout: 20_000 }).toBe(true);
    await page.getByLabel("Filter runs").fill("params.lr<0.002 AND metrics.loss.last>9900");
    await page.getByLabel("Filter runs").press("Enter");
    await page.getByText("10 of 10", { exact: true }).waitFor();
    expect((await names()).length).toBe(10);
    expect(problems).toEqual([]);
    await close();
  });
});

/** Run n has lr n mod 10 thousandths and a loss of 10,000 − n. */
function toRun(n: number, startMs: number): Buffer {
  const id = `run-${n}`;
  return toFrames(
    [
      ["run_start", { run_id: { id, exp_id: `exp-${n % 7}` }, name: `run ${n}` }],
      ["param", { run_id: id, key: "lr", value: ((n % 10) + 1) / 1000 }],
      ["metric", { run_id: id, key: "loss", value: runsTotal - n, step: 1 }],
      ["run_end", { run_id: id, status: "completed" }],
    ],
    startMs + n * 1000,
  );
}
