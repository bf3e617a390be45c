// From an empty server to a job that is watched and steered.

import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { type Run, startRun } from "#emit/xtrack.ts";
import { createTestApp } from "../support/app.ts";
import { chromiumPath } from "./browser.ts";
import { sendXtrack, toFrames } from "./sample.ts";
import { suiteSite } from "./site.ts";
import { plotOf, soon, viewsLoaded } from "./walking.ts";

const [server, browser] = suiteSite("empty");
let job: Run | undefined;

describe.skipIf(chromiumPath === undefined)("a browser on a new server", () => {
  afterAll(async () => {
    await job?.end({ timeoutMs: 2000 });
  });

  test("an empty table says how to fill it, and Getting started turns into the run with its first record", async () => {
    const empty = await browser.visit(`${server.app.url}/`);
    await empty.page.getByText("No runs yet.").waitFor();
    await viewsLoaded(empty.page);
    const sizes = await empty.page.evaluate<number[]>(`performance.getEntriesByType("resource")
      .filter((each) => each.name.endsWith(".js"))
      .filter((each) => each.startTime < performance.getEntriesByName("views-preload")[0].startTime)
      .map((each) => each.encodedBodySize)`);
    expect(sizes.length).toBeGreaterThan(2);
    expect(sizes.every((size) => size > 0)).toBe(true);
    // The first load stays under 350 KB of compressed script; the other views come after it.
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(350_000);
    expect(await empty.page.getByText("tributary import").count()).toBe(1);
    await empty.page.getByRole("link", { name: "copy-ready lines for each client" }).click();
    await empty.page.getByText("waiting for the first record").waitFor();
    // Each line works here and now: this server, this installation, our own package.
    await empty.page.getByText(`run --server ${server.app.url} -- python train.py`).waitFor();
    await empty.page.getByRole("button", { name: "Node" }).click();
    await empty.page.getByText(/npm install \S*tributary-ml\S*/).waitFor();
    expect(await empty.page.getByText(/npm install tributary(\s|$)/).count()).toBe(0);
    await empty.page.getByRole("button", { name: "XTrack" }).click();
    await empty.page.getByText(/XTRACK_PORT=\d+/).waitFor();
    await sendXtrack(
      server,
      toFrames([
        ["run_start", { run_id: { id: "first" }, name: "the first run" }],
        ["metric", { run_id: "first", key: "loss", value: 2, step: 1 }],
      ]),
    );
    await empty.page.waitForURL(/\/runs\/first\/charts/);
    await empty.page.getByRole("heading", { name: "the first run" }).waitFor();
    expect(empty.problems).toEqual([]);
    await empty.close();
  });

  test("a chart grows while the job runs, and a new run announces itself in the table", async () => {
    const table = await browser.visit(`${server.app.url}/runs`);
    await table.page.getByText("the first run").waitFor();
    const port = Number(server.app.xtrack[0]?.split(":").at(-1));
    job = startRun({
      id: "live-job",
      name: "live job",
      workerId: "w0",
      params: { lr: 0.1 },
      transport: { kind: "tcp", host: "127.0.0.1", port },
      source: false,
      env: false,
      // Its collector comes back on another port, so its end arrives nowhere.
      spool: false,
    });
    for (let step = 1; step <= 20; step++) job.metric("loss", 2 / step, { step, phase: "train" });
    await table.page.getByRole("button", { name: /1 new run — show/ }).click();
    await table.page.getByText("live job").waitFor();
    expect(table.problems).toEqual([]);
    await table.close();

    const chart = await browser.visit(`${server.app.url}/runs/live-job/charts`);
    const plot = chart.page.locator(".plot").first();
    const points = async () => Number(/(\d+) points?/.exec((await plot.getAttribute("aria-label")) ?? "")?.[1] ?? 0);
    await soon(points).toBeGreaterThanOrEqual(20);
    for (let step = 21; step <= 60; step++) job.metric("loss", 2 / step, { step, phase: "train" });
    await soon(points).toBe(60);
    expect(chart.problems).toEqual([]);
    await chart.close();
  });

  test("a log grows by itself without being asked for again, follows, stays when read, and keeps its search", async () => {
    const { page, problems, close } = await browser.visit(`${server.app.url}/runs/live-job/logs`);
    await page.getByText("No logs yet.").waitFor();
    let asked = 0;
    page.on("request", (request) => {
      if (request.url().includes("/live-job/logs")) asked++;
    });
    const say = (from: number, to: number) => {
      for (let n = from; n <= to; n++) job?.log(n % 10 === 0 ? "warning" : "info", `line number ${n}`, { step: n });
    };
    say(1, 200);
    await page.getByText("line number 200").waitFor();
    await soon(() => page.getByRole("button", { name: /^warning/ }).textContent()).toBe("warning20");
    say(201, 210);
    await page.getByText("line number 210").waitFor();
    expect(asked).toBe(0);
    await page.getByLabel("Log lines").hover();
    await page.mouse.wheel(0, -1500);
    const follow = page.getByRole("button", { name: "follow", exact: true });
    await soon(() => follow.getAttribute("aria-pressed")).toBe("false");
    const seen = await page.locator(".log-line").first().textContent();
    say(211, 213);
    const below = page.getByRole("button", { name: /3 new lines below — follow/ });
    await below.waitFor();
    expect(await page.locator(".log-line").first().textContent()).toBe(seen);
    await below.click();
    await page.getByText("line number 213").waitFor();
    const times = page.locator(".log-time");
    const last = await times.count();
    await times.nth(last - 4).hover();
    await page.mouse.down();
    await times.nth(last - 2).hover();
    expect(await page.locator(".log-line.brushed").count()).toBeGreaterThan(1);
    await page.mouse.up();
    await page.waitForURL(/from=\d+&to=\d+/);
    await page.keyboard.press("Escape");
    await page.waitForURL((url) => !url.searchParams.has("from"));
    await page.getByLabel("Find in messages").fill("NUMBER 21");
    await soon(() => page.locator(".log-line").count()).toBe(5);
    say(214, 221);
    await page.getByText("line number 219").waitFor();
    await soon(() => page.locator(".log-line").count()).toBe(11);
    expect(await page.getByText("line number 220").count()).toBe(0);
    expect(problems).toEqual([]);
    await close();
  });

  test("a log left open hides nothing, however much arrives, and counts all that a reader has not seen", async () => {
    const run_id = "talkative";
    let said = 0;
    const talk = async (lines: number) => {
      const events = Array.from({ length: lines }, (): [string, object] => [
        "log",
        { run_id, level: "info", msg: `said ${++said}` },
      ]);
      const start: [string, object] = ["run_start", { run_id: { id: run_id }, name: run_id }];
      await sendXtrack(server, toFrames(said === lines ? [start, ...events] : events, Date.now() + said, `w${said}`));
    };
    await talk(10);
    const { page, problems, close } = await browser.visit(`${server.app.url}/runs/${run_id}/logs?read=end`);
    await page.getByText("said 10", { exact: true }).waitFor();
    await page.getByRole("button", { name: "follow", exact: true }).click();
    await talk(11_990);
    await page.getByRole("button", { name: /11.?990 new lines below/ }).waitFor();
    await talk(12_000);
    // More than the page holds: it asks again for those between, once they are wanted.
    let asked = 0;
    page.on("request", (request) => {
      if (request.url().includes(`/${run_id}/logs?`) && !request.url().includes("cursor=")) asked++;
    });
    await page.getByRole("button", { name: /23.?990 new lines below/ }).click();
    await page.getByText("said 24000", { exact: true }).waitFor();
    await soon(() => asked).toBeGreaterThan(0);
    expect(problems).toEqual([]);
    await close();
  });

  test("an overview shows the newest value and line while the job runs", async () => {
    const { page, problems, close } = await browser.visit(`${server.app.url}/runs/live-job`);
    const curve = page.locator(".key-curve strong").first();
    await soon(() => curve.textContent()).toBe("0.03333");
    job?.metric("loss", 0.5, { step: 61, phase: "train" });
    await soon(() => curve.textContent()).toBe("0.5");
    job?.log("info", "\u001b[32mthe first line\u001b[0m");
    await page.locator(".last-lines").getByText("the first line", { exact: true }).waitFor();
    job?.log("info", "the next line");
    await page.locator(".last-lines").getByText("the next line").waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  test("a comparison follows the runs in it", async () => {
    const { page, problems, close } = await browser.visit(
      `${server.app.url}/compare?run=live-job&run=first&tab=params`,
    );
    const last = page
      .getByRole("row", { name: /^loss train/ })
      .getByRole("cell")
      .nth(1);
    await soon(() => last.textContent()).toBe("0.5");
    job?.metric("loss", 0.25, { step: 61, phase: "train" });
    await soon(() => last.textContent()).toBe("0.25");
    expect(problems).toEqual([]);
    await close();
  });

  test("a command is asked about, sent, and seen to be confirmed by the worker", async () => {
    let rate = 0.1;
    job?.on("pause", () => undefined);
    job?.on("resume", () => undefined);
    job?.on("adjust_lr", ({ payload }) => {
      rate = payload["lr"] as number;
    });
    const { page, problems, close } = await browser.visit(`${server.app.url}/runs/live-job/charts`);
    await page.getByRole("button", { name: "Stop…" }).click();
    await page.getByText("The job ends cleanly.").waitFor();
    await page.getByRole("button", { name: "cancel" }).click();
    await page.getByText(/accepts commands/).waitFor();
    // Nobody paused it, so there is nothing to resume; what it confirms changes that, though it says no status.
    const [pause, resume] = ["Pause", "Resume"].map((name) => page.getByRole("button", { name, exact: true }));
    await soon(() => resume?.isDisabled()).toBe(true);
    await pause?.click();
    await page.getByRole("button", { name: "send “pause”" }).click();
    await soon(() => resume?.isEnabled()).toBe(true);
    await resume?.click();
    await page.getByRole("button", { name: "send “resume”" }).click();
    await soon(() => resume?.isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Learning rate" }).click();
    const field = page.getByRole("spinbutton", { name: "learning rate" });
    await soon(() => field.inputValue()).toBe("0.1");
    await field.fill("");
    await soon(() => page.getByRole("button", { name: "send “learning rate”" }).isDisabled()).toBe(true);
    await field.fill("0.0005");
    // The question is closed by the answer to it, not by the list of commands that is asked for after it.
    let listed: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      listed = resolve;
    });
    await page.route(/\/commands$/, async (route) => {
      if (route.request().method() === "GET") await held;
      await route.continue().catch(() => undefined);
    });
    await page.getByRole("button", { name: "send “learning rate”" }).click();
    await field.waitFor({ state: "detached" });
    listed();
    await page.getByRole("row", { name: /adjust_lr.*confirmed/ }).waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await soon(() => rate).toBe(0.0005);
    // It is drawn on every chart, and the cursor reads it.
    for (let step = 61; step <= 80; step++) job?.metric("loss", 2 / step, { step, phase: "train" });
    await page.getByRole("link", { name: "Charts" }).click();
    const panel = page.getByRole("region", { name: "train · loss" });
    const box = await plotOf(page, "train · loss");
    await page.getByRole("button", { name: "relative" }).click();
    const sweep = async () => {
      for (let share = 0; share <= 1; share += 0.01) {
        await page.mouse.move(box.x + box.width * share, box.y + 30);
        const read = (await panel.locator(".readout").textContent()) ?? "";
        if (read.includes("adjust_lr")) return true;
      }
      return false;
    };
    await soon(sweep).toBe(true);
    expect(problems).toEqual([]);
    await close();
  });

  test("the page says so when the server goes away, and comes back by itself", async () => {
    const { page, close } = await browser.visit(`${server.app.url}/runs`);
    await page.getByText("the first run").waitFor();
    const dot = page.getByRole("status", { name: "Live stream" });
    await dot.getByText(/^live /).waitFor();
    const address = new URL(server.app.url);
    await server.app.close();
    await page.getByText("server away since").waitFor();
    expect(await page.getByText("the first run").count()).toBe(1);
    const again = await createTestApp({ dataDir: server.dataDir, httpAddress: address.host });
    await dot.getByText(/^live /).waitFor({ timeout: 30_000 });
    server.app = again.app;
    await close();
  });

  test("a page out of sight gives its connection back, and has missed nothing when it is seen again", async () => {
    const { page, problems, close } = await browser.visit(`${server.app.url}/runs/first/charts`, { apart: true });
    await page.clock.install();
    await page.reload();
    const plot = page.locator(".plot").first();
    const points = async () => Number(/(\d+) points?/.exec((await plot.getAttribute("aria-label")) ?? "")?.[1] ?? 0);
    await plot.waitFor();
    const before = await points();
    const watching = async () => ((await server.get("/api/v1/health")).body as { subscribers: number }).subscribers;
    await soon(watching).toBe(1);
    await hide(page, true);
    await page.clock.runFor(31_000);
    await soon(watching).toBe(0);
    await sendXtrack(
      server,
      toFrames([["metric", { run_id: "first", key: "loss", value: 1, step: 99 }]], Date.now(), "late"),
    );
    await hide(page, false);
    await soon(async () => {
      await page.clock.runFor(1000);
      return points();
    }).toBe(before + 1);
    expect(problems).toEqual([]);
    await close();
  });

  test("no command can be sent to a run that nobody listens for, and the page says how to change that", async () => {
    const { page, problems, close } = await browser.visit(`${server.app.url}/runs/first/control`);
    await page.locator(".notice").first().waitFor();
    expect((await page.locator(".notice").first().textContent())?.length).toBeGreaterThan(20);
    expect(await page.getByRole("button", { name: "Pause", exact: true }).isDisabled()).toBe(true);
    expect(problems).toEqual([]);
    await close();
  });
});

/** Playwright's pages are always in front, so the page is told otherwise. */
async function hide(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate((value) => {
    const page = (globalThis as unknown as { document: EventTarget }).document;
    Object.defineProperty(page, "hidden", { configurable: true, value });
    page.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}
