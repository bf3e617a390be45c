// A server with a page on it, and a browser to look at it.

import { createTestApp, type Flags, type TestApp } from "../support/app.ts";
import { freePort } from "../support/free-port.ts";
import { standFor, suiteOf } from "../support/suite.ts";
import { openBrowser, type TestBrowser } from "./browser.ts";
import { makeSampleFolder } from "./sample.ts";

let port: Promise<number> | undefined;

/**
 * All servers of a test process are found at one address, one after another: what the browser has loaded and compiled
 * of the page for one file is there for the next.
 */
export async function openSite(flags: Flags = {}): Promise<[TestApp, TestBrowser]> {
  port ??= freePort();
  // Before the server, which looks for the page that is built here when it starts.
  const browser = await openBrowser();
  const httpAddress = `127.0.0.1:${await port}`;
  return [await createTestApp({ httpAddress, ...flags }), browser];
}

/** One for all tests of a file. */
export function suiteSite(content: "empty" | "sample", flags: Flags = {}): [TestApp, TestBrowser] {
  const open = async () => openSite(content === "empty" ? flags : { ...flags, dataDir: await makeSampleFolder() });
  const close = async ([server, browser]: [TestApp, TestBrowser]) => {
    await browser.close();
    await server.remove();
  };
  const site = suiteOf(open, close, 240_000);
  return [standFor(() => site[0]), standFor(() => site[1])];
}
