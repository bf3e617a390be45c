// The page never lies about state: slow answers arrive, paused is paused, and a server that is away takes nothing off
// the screen.

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { createTestApp } from "../support/app.ts";
import { chromiumPath } from "./browser.ts";
import { sendXtrack, toFrames } from "./sample.ts";
import { suiteSite } from "./site.ts";
import { panelOf, soon, viewsLoaded, walkOn } from "./walking.ts";

const [server, browser] = suiteSite("empty");

/** What a job says at a step; each step has sequence numbers of its own. */
async function say(run_id: string, step: number, status = "training"): Promise<void> {
  const progress = { cur: step, total: 100, unit: "steps" };
  const events: [string, object][] = [
    ["status", { run_id, status, progress }],
    ["metric", { run_id, key: "loss", value: 1 / step, step }],
    ["log", { run_id, level: "info", msg: `step ${step} done`, step }],
  ];
  await sendXtrack(server, toFrames(events, Date.now(), "w0", step * 10));
}

describe.skipIf(chromiumPath === undefined)("the state of the page", () => {
  beforeAll(async () => {
    for (const id of ["slow", "resting", "left"]) {
      await sendXtrack(server, toFrames([["run_start", { run_id: { id }, name: id }]], Date.now(), "w0"));
      await say(id, 1);
    }
  }, 180_000);

  test("a live run whose answers take longer than its changes still moves, and no request is cancelled", async () => {
    const { page, problems, close } = await browser.visit(`${server.app.url}/runs/slow/charts`);
    await page.locator(".run-head", { hasText: "1 %" }).waitFor();
    const cancelled: string[] = [];
    page.on("requestfailed", (request) => cancelled.push(request.url()));
    await page.route(/\/api\/v1\/runs\/slow(\/metrics)?$/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 1_700));
      await route.continue().catch(() => undefined);
    });
    let step = 1;
    const job = setInterval(() => void say("slow", ++step), 250);
    try {
      const shown = async () => Number(/(\d+) %/.exec((await page.locator(".run-head").textContent()) ?? "")?.[1]);
      await soon(shown).toBeGreaterThan(1);
      const first = await shown();
      await soon(shown).toBeGreaterThan(first);
    } finally {
      clearInterval(job);
    }
    const last = step;
    await soon(() => page.locator(".run-head").textContent()).toContain(`${last} %`);
    expect(cancelled).toEqual([]);
    expect(problems).toEqual([]);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await close();
  });

  test("a run whose name is two dots opens from the table and from its own address", async () => {
    await sendXtrack(server, toFrames([["run_start", { run_id: { id: ".." }, name: "dots" }]], Date.now(), "w0"));
    await walkOn(browser, `${server.app.url}/runs`, async (page) => {
      await page.getByRole("link", { name: "dots" }).first().click();
      await page.getByRole("heading", { name: "dots" }).waitFor();
      expect(new URL(page.url()).pathname).toMatch(/^\/runs\/~\.\.(\/|$)/);
      await page.reload();
      await page.getByRole("heading", { name: "dots" }).waitFor();
    });
  });

  test("a paused job is shown as paused, in its head and in the table", async () => {
    await say("resting", 2, "paused");
    await walkOn(browser, `${server.app.url}/runs/resting`, async (page) => {
      await page.locator(".run-head .badge", { hasText: "paused" }).waitFor();
      await page.getByRole("link", { name: "Runs", exact: true }).first().click();
      await page
        .getByRole("row", { name: /resting/ })
        .getByText("paused")
        .waitFor();
      await say("resting", 3);
      await page
        .getByRole("row", { name: /resting/ })
        .getByText("running")
        .waitFor();
    });
  });

  test("a panel whose points are on their way says so, and one whose answer breaks off says that", async () => {
    const { page, close } = await browser.visit(`${server.app.url}/runs/left`);
    let held: () => void = () => {};
    const wait = new Promise<void>((resolve) => {
      held = resolve;
    });
    await page.route(/\/api\/v1\/series$/, async (route) => {
      await wait;
      await route.fulfill({ contentType: "application/json", body: '{"axis":"step","series":[' });
    });
    await page.getByRole("link", { name: "Charts", exact: true }).click();
    await panelOf(page, "loss").getByLabel("Loading").waitFor();
    held();
    await panelOf(page, "loss").getByText("The server does not answer.").waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await panelOf(page, "loss").getByRole("button", { name: "ask again" }).click();
    await panelOf(page, "loss").locator("canvas").waitFor();
    await close();
  });

  test("a run that is not there is said to be missing, with a way to those that are", async () => {
    const { page, close } = await browser.visit(`${server.app.url}/runs/nobody`);
    await page.getByText("There is no such run.").waitFor();
    await page.getByRole("link", { name: "all runs", exact: true }).click();
    await page.waitForURL(/\/runs$/);
    await close();
  });

  test("a filtered table says so when nobody answers, and counts nothing", async () => {
    const silence = (page: Page) => void page.route(/\/api\/v1\/runs\?/, (route) => route.abort());
    const { page, close } = await browser.visit(`${server.app.url}/runs?filter=left`, { prepare: silence });
    await page.getByText("The server does not answer.").waitFor();
    expect(await page.getByText("0 of 0").count()).toBe(0);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.getByRole("button", { name: "ask again" }).click();
    await page.getByText("1 of 1").waitFor();
    await close();
  });

  test("with the server away every tab still opens, what was seen stays, and all comes back by itself", async () => {
    // What opens while the server is away has to be loaded by this page, not by an earlier one.
    const { page, close } = await browser.visit(`${server.app.url}/runs/left/charts`, { apart: true });
    await panelOf(page, "loss").locator("canvas").waitFor();
    await viewsLoaded(page);
    await page.evaluate("globalThis.sameDocument = true");
    const address = new URL(server.app.url);
    await server.app.close();
    await page.getByText(/server away since \d\d:\d\d:\d\d; what you see is from then/).waitFor();
    for (const tab of ["Logs", "Timeline", "Overview", "Control", "Charts"]) {
      await page.getByRole("link", { name: tab, exact: true }).click();
      await page.locator(`.tab.current`, { hasText: tab }).waitFor();
    }
    // What was on screen before is on screen again.
    await panelOf(page, "loss").locator("canvas").waitFor();
    await page.getByRole("link", { name: "Logs", exact: true }).click();
    await page.getByText("The server does not answer.").waitFor();
    server.app = (await createTestApp({ dataDir: server.dataDir, httpAddress: address.host })).app;
    await page.getByText("step 1 done").waitFor({ timeout: 40_000 });
    expect(await page.evaluate("globalThis.sameDocument")).toBe(true);
    await close();
  });
});
