// Ten thousand runs in the table: only what is on screen exists, and filtering, sorting and paging stay quick.

import { beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "./browser.ts";
import { drained, sendXtrack, toFrames } from "./sample.ts";
import { suiteSite } from "./site.ts";
import { boxOf, soon } from "./walking.ts";

const runsTotal = 10_000;
const [server, browser] = suiteSite("empty");

describe.skipIf(chromiumPath === undefined)("ten thousand runs", () => {
  beforeAll(async () => {
    const startMs = Date.now() - runsTotal * 1000;
    for (let first = 0; first < runsTotal; first += 1000) {
      const runs = Array.from({ length: 1000 }, (_, i) => toRun(first + i, startMs));
      await sendXtrack(server, Buffer.concat(runs));
    }
    await drained(server);
  }, 240_000);

  test("the table shows them all by scrolling, holds few rows, and filters and sorts by a metric", async () => {
    const { page, problems, close } = await browser.visit(
      `${server.app.url}/runs?columns=params.lr&columns=metrics.loss.last&sort=metrics.loss.last`,
    );
    await page.getByText(`of ${"10\u202f000"}`).waitFor();
    const names = () => page.locator(".grid-row .run-name").allTextContents();
    expect((await names())[0]).toBe("run 9999");
    expect((await names()).length).toBeLessThan(80);
    await page.locator(".grid-scroll").evaluate((element) => {
      element.scrollTop = 5000;
    });
    await soon(names).toContain("run 9820");
    // The scroll bar is as long as the table, and its end is the last run.
    await page.locator(".grid-scroll").evaluate((element) => {
      element.scrollTop = element.scrollHeight;
    });
    await soon(names).toContain("run 0");
    expect((await names()).length).toBeLessThan(80);
    await page.getByLabel("Filter runs").fill("params.lr<0.002 AND metrics.loss.last>9900");
    await page.getByLabel("Filter runs").press("Enter");
    await page.getByText("10 of 10", { exact: true }).waitFor();
    expect((await names()).length).toBe(10);
    expect(problems).toEqual([]);
    await close();
  });

  test("Back from a run leads to the row that it was opened from, and a link to the table to its top", async () => {
    const { page, problems, close } = await browser.visit(`${server.app.url}/runs?sort=metrics.loss.last`);
    await page.getByText(`of ${"10\u202f000"}`).waitFor();
    const table = page.locator(".grid-scroll");
    await table.evaluate((element) => {
      element.scrollTop = 9000;
    });
    const row = page.getByRole("link", { name: "run 9669", exact: true });
    await row.click();
    await page.waitForURL(/\/runs\/run-9669/);
    await page.getByRole("heading", { name: "run 9669", exact: true }).waitFor();
    await page.goBack();
    await row.waitFor();
    await soon(() => table.evaluate((element) => element.scrollTop)).toBe(9000);
    await row.click();
    await page.waitForURL(/\/runs\/run-9669/);
    await page.getByRole("link", { name: "Runs", exact: true }).first().click();
    await page.locator(".grid-row").first().waitFor();
    expect(await table.evaluate((element) => element.scrollTop)).toBe(0);
    expect(problems).toEqual([]);
    await close();
  });

  test("an unfinished filter keeps the last rows, and a finished one is read from its top", async () => {
    const { page, close } = await browser.visit(`${server.app.url}/runs?sort=name`);
    await page.getByText(`of ${"10\u202f000"}`).waitFor();
    await page.locator(".grid-scroll").evaluate((element) => {
      element.scrollTop = 4000;
    });
    const filter = page.getByLabel("Filter runs");
    await filter.fill("status:completed AND");
    await filter.press("Escape");
    await page.getByRole("alert").waitFor();
    expect(await page.locator(".grid-row .run-name").count()).toBeGreaterThan(10);
    await page.getByText(`of ${"10\u202f000"}`).waitFor();
    await filter.fill("params.lr<0.0015");
    await filter.press("Enter");
    await page.getByText("200 of 1000").waitFor();
    await soon(() => page.locator(".grid-row .run-name").first().textContent()).toBe("run 0");
    await close();
  });

  test("what is wrong with a filter and what may be meant stand apart, and a built-in field is not said to be in no run", async () => {
    const { page, close } = await browser.visit(`${server.app.url}/runs?sort=name`);
    await page.getByText(`of ${"10\u202f000"}`).waitFor();
    const filter = page.getByLabel("Filter runs");
    await filter.fill("status:completed AND (sta");
    const list = page.getByRole("listbox", { name: "Suggestions" });
    const [error, suggestions] = [page.getByRole("alert"), list.getByRole("option")];
    await error.waitFor();
    await suggestions.first().waitFor();
    const [above, below] = [await boxOf(error), await boxOf(list)];
    expect(above.y + above.height).toBeLessThanOrEqual(below.y);
    expect(await suggestions.filter({ hasText: "0 runs" }).count()).toBe(0);
    await suggestions
      .filter({ hasText: /^status/ })
      .first()
      .waitFor();
    await filter.fill("odd");
    // A name with spaces stands in one pair of quotes.
    await suggestions.filter({ hasText: /^metrics\."odd one"\.last/ }).waitFor();
    await close();
  });

  test("ticking all ticks all that match, not only what was loaded", async () => {
    const { page, problems, close } = await browser.visit(`${server.app.url}/runs?filter=params.lr%3C0.0015`);
    await page.getByText("200 of 1000").waitFor();
    await page.getByRole("checkbox", { name: "Select all runs" }).click();
    await page.getByText("1000 selected", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Compare", exact: true }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "delete 1000 runs" }).waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  test("the last view comes back from a run, a named one from the menu, and the keyboard goes through the rows", async () => {
    const asked = "/runs?filter=params.lr%3C0.0015&sort=name";
    const { page, problems, close } = await browser.visit(server.app.url + asked);
    await page.getByText("200 of 1000").waitFor();
    await page.getByRole("button", { name: "views" }).click();
    await page.getByLabel("Name of this view").fill("slow ones");
    await page.getByRole("button", { name: "save", exact: true }).click();
    await page.keyboard.press("Escape");
    await page.getByLabel("Name of this view").waitFor({ state: "detached" });
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.getByText("1 selected").waitFor();
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/runs\/run-\d/);
    // The focus goes along, so that the next key is for what was opened.
    await soon(() => page.evaluate<string>("document.activeElement.id")).toBe("main");
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Runs" }).click();
    await page.waitForURL(/filter=params\.lr%3C0\.0015/);
    await page.getByRole("link", { name: "Health" }).click();
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await page.waitForURL(/sort=name/);
    await page.goto(`${server.app.url}/runs`);
    await page.getByText(`of ${"10\u202f000"}`).waitFor();
    await page.getByRole("button", { name: "views" }).click();
    await page.getByRole("button", { name: "slow ones", exact: true }).click();
    await page.getByText("200 of 1000").waitFor();
    // The menu has done its work, and keys mean the table again.
    await page.getByLabel("Name of this view").waitFor({ state: "detached" });
    await soon(() => page.evaluate<string>("document.activeElement.id")).toBe("main");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/runs\/run-\d/);
    expect(problems).toEqual([]);
    await close();
  });

  test("a ticked box does not keep the keys for itself", async () => {
    const { page, problems, close } = await browser.visit(`${server.app.url}/runs?sort=name`);
    await page.getByText(`of ${"10\u202f000"}`).waitFor();
    await page.getByRole("row").nth(1).getByRole("checkbox").click();
    await page.getByText("1 selected").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.getByText("2 selected").waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  test("the first stop of the Tab key leads past the bars to the content", async () => {
    const { page, close } = await browser.visit(`${server.app.url}/runs?sort=name`);
    await page.getByText(`of ${"10\u202f000"}`).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate<string>("document.activeElement.id")).toBe("main");
    await close();
  });
});

/** Run n has lr n mod 10 thousandths and a loss of 10,000 − n. */
function toRun(n: number, startMs: number): Buffer {
  const id = `run-${n}`;
  return toFrames(
    [
      ["run_start", { run_id: { id, exp_id: `exp-${n % 7}` }, name: `run ${n}` }],
      ["param", { run_id: id, key: "lr", value: ((n % 10) + 1) / 1000 }],
      ["metric", { run_id: id, key: "loss", value: runsTotal - n, step: 1 }],
      ...(n === 0 ? [["metric", { run_id: id, key: "odd one", value: 1, step: 1 }] as [string, object]] : []),
      ["run_end", { run_id: id, status: "completed" }],
    ],
    startMs + n * 1000,
  );
}
