// A real browser on a real server. Everything a page complains about is collected, and a test that leaves a complaint
// fails: errors thrown, errors logged (a broken content policy is one), requests refused that nobody expected.

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { findTool } from "../support/tools.ts";

const root = join(import.meta.dirname, "../..");
export const chromiumPath = findTool("chromium");

export interface Visit {
  readonly page: Page;
  readonly problems: string[];
  close(): Promise<void>;
}

export interface TestBrowser {
  visit(url: string, options?: { theme?: "light" | "dark"; width?: number; height?: number }): Promise<Visit>;
  close(): Promise<void>;
}

export async function openBrowser(): Promise<TestBrowser> {
  buildWeb();
  if (chromiumPath === undefined) throw new Error("chromium is not installed");
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"];
  const browser: Browser = await chromium.launch({
    executablePath: chromiumPath,
    args: [...args, "--disable-sync", "--no-first-run"],
  });
  return {
    async visit(url, { theme = "light", width = 1400, height = 860 } = {}) {
      const context: BrowserContext = await browser.newContext({ viewport: { width, height }, colorScheme: theme });
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
      const problems = watch(page);
      await page.goto(url);
      return { page, problems, close: () => context.close() };
    },
    close: () => browser.close(),
  };
}

function watch(page: Page): string[] {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(`thrown: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`logged: ${message.text()}`);
  });
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("response", (response) => {
    if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
  });
  return problems;
}

/** Builds the application unless what is built is newer than its sources. One test process builds, the others wait. */
function buildWeb(): void {
  const lock = join(root, "dist/.web-building");
  mkdirSync(join(root, "dist"), { recursive: true });
  const deadlineMs = Date.now() + 120_000;
  while (!tryLock(lock)) {
    if (Date.now() > deadlineMs) throw new Error(`${lock} was never removed`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
  try {
    const sources = Math.max(newest(join(root, "web")), newest(join(root, "src/api/contract")));
    if (sources <= modified(join(root, "dist/web/index.html"))) return;
    const vite = join(root, "node_modules/vite/bin/vite.js");
    execFileSync(process.execPath, [vite, "build", "web", "--logLevel", "warn"], { cwd: root, stdio: "inherit" });
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function tryLock(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    // A lock as old as this was left by a process that died.
    if (Date.now() - modified(lock) > 100_000) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}

function newest(folder: string): number {
  const times = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => modified(join(folder, name)));
  return Math.max(0, ...times);
}

function modified(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
