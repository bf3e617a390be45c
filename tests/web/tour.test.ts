// The demo as a person meets it: the command is started, and the page leads through the sample in six steps.

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { suiteFolder } from "../support/folder.ts";
import { chromiumPath, openBrowser, type TestBrowser } from "./browser.ts";
import { soon } from "./walking.ts";

vi.setConfig({ testTimeout: 180_000 });

const main = new URL("../../src/main.ts", import.meta.url).pathname;
const addresses = ["--http", "127.0.0.1:0", "--xtrack", "127.0.0.1:0"];
const folder = suiteFolder();
let demo: ChildProcess;
let opened: Promise<string>;
let browser: TestBrowser;

describe.skipIf(chromiumPath === undefined)("the demo", () => {
  beforeAll(async () => {
    browser = await openBrowser();
    demo = spawn(process.execPath, [main, "demo", "--data", join(folder, "data"), ...addresses], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    opened = new Promise((resolve, reject) => {
      let said = "";
      demo.stdout?.on("data", (text: Buffer) => {
        said += text.toString();
        const found = /^Open\s+(\S+)$/m.exec(said)?.[1];
        if (found !== undefined) resolve(found);
      });
      demo.on("exit", () => reject(new Error(`the demo ended: ${said}`)));
    });
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    const ended = new Promise((resolve) => demo.on("exit", resolve));
    demo.kill("SIGTERM");
    await ended;
  });

  test("leads from a dip in a curve to its cause and to a run that is stopped by hand", async () => {
    const { page, problems, close } = await browser.visit(await opened);
    const bar = page.getByRole("complementary", { name: "Tour" });
    const next = () => bar.getByRole("link", { name: "next" }).click();
    await page.getByRole("link", { name: "begin" }).click();
    await page.getByRole("slider", { name: /tokens_per_s/ }).waitFor();
    await next();
    await page.getByText(/steps 149–153/).waitFor();
    await next();
    const forward = page.getByRole("row", { name: /forward/ });
    await forward.getByText("12.4 ms").first().waitFor();
    await next();
    await page
      .getByRole("img", { name: /blocks\.0\.fc\.weight/ })
      .first()
      .waitFor();
    await next();
    await page.getByText("validation loss is not finite").first().waitFor();
    await next();
    await page.getByRole("button", { name: "send “stop”" }).click();
    await page.getByText("confirmed").first().waitFor({ timeout: 60_000 });
    await bar.getByRole("button", { name: "done" }).click();
    await soon(() => bar.count()).toBe(0);
    expect(problems).toEqual([]);
    await close();
  });

  test("shows the two recordings of one training as one run with a name, and fills Launch and Pipeline", async () => {
    const url = new URL(await opened).origin;
    const { runs } = (await (await fetch(`${url}/api/v1/runs?limit=100`)).json()) as {
      runs: { name: string; protocols: string[] }[];
    };
    expect(runs.filter(({ name }) => /^[0-9a-f]{32}$/.test(name))).toEqual([]);
    const both = runs.filter(({ protocols }) => protocols.length > 1).map(({ name }) => name);
    expect(both.sort()).toEqual(["gpt-128-profiled", "gpt-32-full-snapshots"]);
    const { page, problems, close } = await browser.visit(`${url}/launches`);
    await page.locator("td a.mono").first().click();
    await soon(() => page.locator(".cell.status-completed").count()).toBe(8);
    await page.locator("a.cell").first().click();
    await page.getByRole("link", { name: "Pipeline" }).click();
    await page
      .getByRole("button", { name: /Operation/ })
      .first()
      .waitFor();
    expect(problems).toEqual([]);
    await close();
  });
});
