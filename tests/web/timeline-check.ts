// What must hold of a walk through a timeline, however many spans it has and however busy the machine is.

import { expect } from "vitest";
import type { TestApp } from "../support/app.ts";
import type { TestBrowser } from "./browser.ts";
import { sendSteps, walkTimeline } from "./timeline-walk.ts";

/** More boxes than this cannot be told apart on the screen: five rows of nesting, two to a pixel over the tile asked for. */
const drawnMax = 30_000;

export async function checkWalk(server: TestApp, browser: TestBrowser, spansTotal: number): Promise<"seen"> {
  const run = "many-spans";
  await sendSteps(server, run, spansTotal);
  const { page, problems, close } = await browser.visit(`${server.app.url}/runs/${run}/timeline`);
  await page.locator(".timeline-summary td").first().waitFor({ timeout: 120_000 });
  const [zoomedIn, dragged, zoomedOut] = await walkTimeline(page, spansTotal);
  // Close by, every span is a box of its own, and the one that is clicked says what it is.
  expect(zoomedIn?.spans).toBeLessThan(500);
  expect(zoomedIn?.drawn).toBe(zoomedIn?.spans);
  expect(dragged?.drawn).toBe(dragged?.spans);
  // From afar all of them are there, as few boxes.
  expect(zoomedOut?.spans).toBe(spansTotal);
  expect(zoomedOut?.drawn).toBeLessThan(Math.min(drawnMax, spansTotal));
  for (const part of [zoomedIn, dragged, zoomedOut]) expect(part?.framesMs.length).toBeGreaterThan(10);
  const counts = await page.locator(".timeline-summary tr", { hasText: "backward" }).locator("td").nth(1).textContent();
  expect(Number(counts?.replaceAll("\u202f", ""))).toBe(spansTotal / 5);
  expect(problems).toEqual([]);
  const times = [zoomedIn, dragged, zoomedOut].flatMap((part) => part?.framesMs ?? []).sort((a, b) => a - b);
  console.log(
    `${spansTotal} spans: ${times.length} frames, 95 of 100 within ${times[Math.floor(times.length * 0.95)]} ms`,
  );
  await close();
  return "seen";
}
