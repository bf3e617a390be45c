// Mistakes that React tells of only in its development build, such as missing keys or state that is set while another part
// is drawn: the page is built as its developers run it, and every view of it is opened once.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { suiteFolder } from "../support/folder.ts";
import { chromiumPath } from "./browser.ts";
import { failedPipeline, profiledRun } from "./sample.ts";
import { suiteSite } from "./site.ts";

const root = join(import.meta.dirname, "../..");
const run = `/runs/${profiledRun}`;
const compared = `/compare?run=${profiledRun}&run=${failedPipeline}`;

/** Where to go, and what is there when it is drawn, but not in the view before. */
const views: readonly (readonly [path: string, ready: string])[] = [
  ["/runs?group=experiment", ".run-name"],
  [run, ".facts"],
  [`${run}/charts`, ".plot canvas"],
  [`${run}/timeline`, ".timeline-summary td"],
  [`${run}/tensors?tensor=blocks.2.qkv.weight`, ".ridges path"],
  [`/runs/${failedPipeline}/pipeline`, ".node-card"],
  [`${run}/files`, ".table td"],
  [`${run}/events`, ".log-line"],
  [`${run}/params`, ".table td"],
  [`${run}/integrity`, ".seq-bar"],
  [`${run}/report`, ".plot canvas"],
  ["/launches", ".runs-bar"],
  [compared, ".plot canvas"],
  [`${compared}&tab=params`, ".diff td"],
  ["/sql", ".sql-editor"],
  ["/health", ".health-tile"],
  ["/settings", ".panel"],
  ["/start", ".command-line"],
];

const [server, browser] = suiteSite("sample");
const folder = suiteFolder();

/** Instead of what the server has. */
function serveBuild(page: Page): void {
  void page.route("**/*", (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname.startsWith("/assets/")) return route.fulfill({ path: join(folder, pathname) });
    if (route.request().resourceType() === "document") return route.fulfill({ path: join(folder, "index.html") });
    return route.fallback();
  });
}

describe.skipIf(chromiumPath === undefined)("a page of development libraries", () => {
  beforeAll(async () => {
    const vite = join(root, "node_modules/vite/bin/vite.js");
    const words = [vite, "build", "web", "--mode", "development", "--logLevel", "error", "--outDir", folder];
    await promisify(execFile)(process.execPath, words, { cwd: root });
  }, 180_000);

  test("complains of nothing in any view", async () => {
    const said: string[] = [];
    const { page, problems } = await browser.visit(`${server.app.url}/runs`, {
      apart: true,
      prepare: (page) => {
        page.on("console", (message) => said.push(message.text()));
        serveBuild(page);
      },
    });
    await page.locator(".run-name").first().waitFor();
    // Without this it would be the other build, which never complains.
    expect(said.join()).toContain("React DevTools");
    for (const [path, ready] of views) {
      await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)})`);
      await page.locator(ready).first().waitFor();
      expect([path, ...problems]).toEqual([path]);
    }
  });
});
