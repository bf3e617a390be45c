// A server with a page on it, and a browser to look at it.

import type { SettingName } from "#config/settings.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { freePort } from "../support/free-port.ts";
import { openBrowser, type TestBrowser } from "./browser.ts";

let port: Promise<number> | undefined;

/**
 * All servers of a test process are found at one address, one after another: what the browser has loaded and compiled
 * of the page for one file is there for the next.
 */
export async function openSite(flags: Partial<Record<SettingName, string>> = {}): Promise<[TestApp, TestBrowser]> {
  port ??= freePort();
  // Before the server, which looks for the page that is built here when it starts.
  const browser = await openBrowser();
  const httpAddress = `127.0.0.1:${await port}`;
  return [await createTestApp({ httpAddress, ...flags }), browser];
}
