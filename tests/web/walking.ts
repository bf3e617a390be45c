// What walks through the page have in common.

import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { TestBrowser, VisitOptions } from "./browser.ts";

/** A busy machine may need a while for what a person sees at once. */
export const soon = <T>(read: () => T) => expect.poll(read, { timeout: 30_000 });

/** Opens a page, and closes it after the steps; nothing may have been complained about. */
export async function walkOn(
  browser: TestBrowser,
  url: string,
  steps: (page: Page) => Promise<void>,
  options: VisitOptions = {},
): Promise<void> {
  const visit = await browser.visit(url, options);
  try {
    await steps(visit.page);
    expect(visit.problems).toEqual([]);
  } finally {
    await visit.close();
  }
}

export const panelOf = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

/** Where something stands on the page. */
export async function boxOf(locator: Locator) {
  const box = await locator.boundingBox();
  if (box === null) throw new Error(`it is not on the page: ${locator}`);
  return box;
}

/** Where the lines of a panel are drawn. */
export async function plotOf(page: Page, panel: string) {
  await panelOf(page, panel).locator("canvas").waitFor();
  return boxOf(panelOf(page, panel).locator(".u-over"));
}

/** Turns the wheel over a place of the timeline until its window is in the address. */
export async function zoomTimeline(page: Page, [x, y] = [500, 80], turns = 10) {
  const box = await boxOf(page.locator(".timeline-canvas"));
  await page.mouse.move(box.x + x, box.y + y);
  for (let i = 0; i < turns; i++) await page.mouse.wheel(0, -300);
  await page.waitForURL(/from=\d+/);
  return box;
}

export async function drag(page: Page, from: readonly [number, number], to: readonly [number, number]): Promise<void> {
  await page.mouse.move(...from);
  await page.mouse.down();
  await page.mouse.move(...to, { steps: 6 });
  await page.mouse.up();
}

type Media = NonNullable<Parameters<Page["emulateMedia"]>[0]>;

/** The page follows what its browser says of its looks. */
export async function changeMedia(page: Page, to: Media, theme: "light" | "dark"): Promise<void> {
  await page.emulateMedia(to);
  await page.locator(`html[data-theme=${theme}]`).waitFor();
}

/** To an address of the page as its links lead there: nothing is loaded anew. */
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)})`);
}

/** Every view is here: from now on no click needs the server for more than data. */
export async function viewsLoaded(page: Page): Promise<void> {
  await soon(() => page.evaluate("typeof globalThis.loadViews")).toBe("function");
  await page.evaluate("globalThis.loadViews()");
  await soon(() => page.evaluate("performance.getEntriesByName('views-loaded').length")).toBe(1);
}

/** Every timer that the page had set when this was called, and that was due by then, has fired, and what it changed is drawn. */
export async function timersFired(page: Page, withinMs: number): Promise<void> {
  await page.evaluate(
    `new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), ${withinMs})).then(() => null)`,
  );
}
