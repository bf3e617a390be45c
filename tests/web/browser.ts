// A real browser on a real server. Everything a page complains about is collected, and a test that leaves a complaint
// fails: errors thrown, errors logged (a broken content policy is one), requests refused that nobody expected.
//
// The files of a test process share one browser, and their visits one tab where they may, and with it what has been
// loaded and compiled of the page. Each visit starts from a blank page with an empty storage all the same.

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { runFolderVariable } from "../support/run-folder.ts";
import { findTool } from "../support/tools.ts";

const root = join(import.meta.dirname, "../..");
export const chromiumPath = findTool("chromium");

export interface Visit {
  readonly page: Page;
  readonly problems: string[];
  close(): Promise<void>;
}

export interface VisitOptions {
  readonly theme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
  /** In a context of its own, which has loaded nothing yet and whose clock may be set. */
  readonly apart?: boolean;
  /** Called before the address is opened. */
  readonly prepare?: (page: Page) => void;
}

export interface TestBrowser {
  visit(url: string, options?: VisitOptions): Promise<Visit>;
  /** Closes what was visited; the browser stays for the next file. */
  close(): Promise<void>;
}

let shared: Promise<BrowserContext> | undefined;
/** A tab that nobody looks at. */
let spare: Page | undefined;

/** The first to call decides which browser it is for this process. */
export async function openBrowser(executablePath: string | undefined = chromiumPath): Promise<TestBrowser> {
  shared ??= launch(executablePath);
  const [context] = await Promise.all([shared, buildWeb()]);
  const visits = new Set<Visit>();
  return {
    async visit(url, { theme = "light", width = 1400, height = 860, apart = false, prepare } = {}) {
      const own = apart ? await context.browser()?.newContext() : undefined;
      const page = await openPage(own ?? context, apart ? undefined : spare, new URL(url).origin);
      if (page === spare) spare = undefined;
      await page.emulateMedia({ media: null, colorScheme: theme });
      await page.setViewportSize({ width, height });
      const visit: Visit = {
        page,
        problems: watch(page),
        async close() {
          visits.delete(visit);
          if (own !== undefined || spare !== undefined || page.isClosed()) return (own ?? page).close();
          await clear(page);
          spare = page;
        },
      };
      visits.add(visit);
      prepare?.(page);
      await page.goto(url);
      return visit;
    },
    async close() {
      for (const visit of [...visits]) await visit.close();
    },
  };
}

/** Playwright ends the browser with this process. */
function launch(executablePath: string | undefined): Promise<BrowserContext> {
  if (executablePath === undefined) throw new Error("chromium is not installed");
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"];
  // Every visit would begin with a process that has to read and compile the whole page again.
  const oneProcess = ["--renderer-process-limit=1", "--disable-site-isolation-trials"];
  const profile = mkdtempSync(join(process.env[runFolderVariable] ?? tmpdir(), "chromium-"));
  return chromium.launchPersistentContext(profile, {
    executablePath,
    args: [...args, ...oneProcess, "--disable-sync", "--no-first-run"],
  });
}

/** A page fetches all its views when it is idle, which costs as much as opening it. A test that needs them here asks for
 * them with `viewsLoaded`; on the pages of all others a view is fetched when it is opened. */
const holdViews = `{
  const idle = globalThis.requestIdleCallback;
  globalThis.requestIdleCallback = (act) => {
    globalThis.loadViews = () => idle(act);
    return 0;
  };
}`;

/** An empty page that remembers nothing of earlier ones but what it need not load again. */
async function openPage(context: BrowserContext, cleared: Page | undefined, origin: string): Promise<Page> {
  await context.clearCookies();
  const page = cleared ?? (await context.newPage());
  const session = await context.newCDPSession(page);
  await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "local_storage,indexeddb,cache_storage" });
  await session.detach();
  if (cleared !== undefined) return page;
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  page.setDefaultTimeout(30_000);
  await page.addInitScript(holdViews);
  return page;
}

const heard = ["console", "dialog", "pageerror", "request", "requestfailed", "requestfinished", "response"] as const;

async function clear(page: Page): Promise<void> {
  for (const event of heard) page.removeAllListeners(event);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.evaluate("sessionStorage.clear()").catch(() => undefined);
  await page.goto("about:blank");
  await page.mouse.move(0, 0);
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

/**
 * Builds the application unless what is built is newer than its sources. One test process builds, the others wait; a run
 * of the tests stays with what it began with, so that sources may be edited meanwhile.
 */
async function buildWeb(): Promise<void> {
  const runFolder = process.env[runFolderVariable];
  const built = runFolder === undefined ? null : join(runFolder, "web-built");
  if (built !== null && existsSync(built)) return;
  const lock = join(root, "dist/.web-building");
  mkdirSync(join(root, "dist"), { recursive: true });
  const deadlineMs = Date.now() + 120_000;
  while (!tryLock(lock)) {
    if (Date.now() > deadlineMs) throw new Error(`${lock} was never removed`);
    await sleep(100);
  }
  try {
    if (built !== null && existsSync(built)) return;
    if (newestSource() > modified(join(root, "dist/web/index.html"))) {
      const vite = join(root, "node_modules/vite/bin/vite.js");
      await promisify(execFile)(process.execPath, [vite, "build", "web", "--logLevel", "warn"], { cwd: root });
    }
    if (built !== null) writeFileSync(built, "");
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

/** What the page is made of: its own folder, and the rooms that it may import from. */
function newestSource(): number {
  return Math.max(
    ...["web", "src/api/contract", "src/base", "src/model", "src/protocol"].map((path) => newest(join(root, path))),
  );
}

function newest(folder: string): number {
  const times = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => modified(join(folder, name)));
  return Math.max(0, ...times);
}

function modified(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
