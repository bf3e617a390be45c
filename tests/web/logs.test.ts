// A person reads a log: finds, sees colours, opens a long line, takes it home, and sends a link to it.

import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "./browser.ts";
import { sendXtrack, toFrames } from "./sample.ts";
import { suiteSite } from "./site.ts";
import { soon, walkOn } from "./walking.ts";

const run_id = "talker";
const longChars = 3_000_000;
const [server, browser] = suiteSite("empty");

const walk = (steps: (page: Page) => Promise<void>, search = "") =>
  walkOn(browser, `${server.app.url}/runs/${run_id}/logs${search}`, steps);
const line = (msg: string, level = "info"): [string, object] => ["log", { run_id, level, msg }];

describe.skipIf(chromiumPath === undefined)("a log in a browser", () => {
  beforeAll(async () => {
    const events: [string, object][] = [
      ["run_start", { run_id: { id: run_id }, name: "talker" }],
      ...Array.from({ length: 1_200 }, (_, i) => line(`line ${i + 1}`)),
      line("\u001b[32mEpoch\u001b[0m boundary reached, \u001b[1;31mloss\u001b[0m is high", "warning"),
      line("x".repeat(longChars), "error"),
      line("the line after the long one"),
      ["run_end", { run_id, status: "completed" }],
    ];
    await sendXtrack(server, toFrames(events, Date.now() - 60_000, "w0"));
  }, 180_000);

  test("a search asks once typing pauses, marks its hits, keeps printed colours, and is in the address", async () => {
    await walk(async (page) => {
      await page.getByText("line 1", { exact: true }).waitFor();
      const asked: string[] = [];
      page.on("request", (request) => {
        if (request.url().includes("/logs?")) asked.push(new URL(request.url()).searchParams.get("q") ?? "");
      });
      // Key by key, and all of them before a busy browser has time for anything else.
      await page.getByLabel("Find in messages").evaluate((input, text) => {
        const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), "value") ?? {};
        for (let end = 1; end <= text.length; end++) {
          set?.call(input, text.slice(0, end));
          input.dispatchEvent(new Event("input", { bubbles: true }));
        }
      }, "boundary");
      await soon(() => page.locator(".log-line").count()).toBe(1);
      expect(asked).toEqual(["boundary"]);
      expect(await page.locator("mark").allTextContents()).toEqual(["boundary"]);
      expect(await page.locator(".log-msg").textContent()).toBe("Epoch boundary reached, loss is high");
      const colours = await page
        .locator(".log-msg span")
        .evaluateAll((all) => all.map((each) => [each.textContent, each.className]));
      expect(colours).toContainEqual(["Epoch", "ansi-green"]);
      expect(colours).toContainEqual(["loss", "ansi-red ansi-bold"]);
      await page.getByRole("button", { name: /^warning/ }).click();
      await page.waitForURL(/q=boundary&level=warning/);
      await page.reload();
      await soon(() => page.locator(".log-line").count()).toBe(1);
      expect(await page.getByLabel("Find in messages").inputValue()).toBe("boundary");
    });
  });

  test("a very long line is sent and shown in part, the line after it is near, and all of it comes when asked", async () => {
    await walk(async (page) => {
      await page.getByText("the line after the long one").waitFor();
      const row = page.locator(".log-line", { hasText: "xxxx" });
      expect((await row.locator(".log-msg").textContent())?.length).toBeLessThan(2_100);
      await soon(async () => (await row.boundingBox())?.height ?? Number.POSITIVE_INFINITY).toBeLessThan(600);
      const sizes = await page.evaluate<number[]>(
        "performance.getEntriesByType('resource').filter((each) => each.name.includes('/logs?')).map((each) => each.decodedBodySize)",
      );
      expect(Math.max(...sizes)).toBeLessThan(longChars / 10);
      await page.getByLabel("Find in messages").fill("xxxx");
      await row.getByRole("button", { name: "show all, 2.86 MiB" }).waitFor();
    }, "?level=error&level=info&read=end");
  });

  test("turned to its end, a log shows no line until those of its end are here", async () => {
    await walk(async (page) => {
      await page.getByText("line 1", { exact: true }).waitFor();
      let go: () => void = () => {};
      const held = new Promise<void>((resolve) => {
        go = resolve;
      });
      await page.route(/\/logs\?.*order=desc/, async (route) => {
        await held;
        await route.continue();
      });
      await page.getByRole("button", { name: "from the end" }).click();
      await page.getByLabel("Loading").waitFor();
      expect(await page.locator(".log-line").count()).toBe(0);
      go();
      await page.getByText("the line after the long one").waitFor();
      await page.unrouteAll({ behavior: "ignoreErrors" });
    });
  });

  test("on a narrow screen a message has the width of the page", async () => {
    const narrow = { width: 390, height: 844 };
    await walkOn(
      browser,
      `${server.app.url}/runs/${run_id}/logs`,
      async (page) => {
        await page.getByText("line 1", { exact: true }).waitFor();
        expect((await page.locator(".log-msg").first().boundingBox())?.width).toBeGreaterThan(280);
      },
      narrow,
    );
  });

  test("a download holds every line that the search finds, whole", async () => {
    await walk(async (page) => {
      await page.locator(".log-line").first().waitFor();
      const [saved] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "download" }).click(),
      ]);
      expect(saved.suggestedFilename()).toBe("talker.log");
      const lines = (await readFile(await saved.path(), "utf8")).trim().split("\n");
      expect(lines).toHaveLength(1_202);
      expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\tw0\tinfo\tline 1$/);
      expect(Math.max(...lines.map((each) => each.length))).toBeGreaterThan(longChars);
    }, "?level=info&level=error");
  });
});
