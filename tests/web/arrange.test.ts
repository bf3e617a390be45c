// What people arrange themselves: runs that belong together, views with names, panels, and the moment they point at.

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { toBatchText } from "../support/cirron-batch.ts";
import { chromiumPath } from "./browser.ts";
import { drained, profiledRun, sendXtrack, toFrames } from "./sample.ts";
import { suiteSite } from "./site.ts";
import { panelOf, plotOf, soon, walkOn, zoomTimeline } from "./walking.ts";

const [server, browser] = suiteSite("sample");
const walk = (path: string, steps: (page: Page) => Promise<void>) => walkOn(browser, server.app.url + path, steps);
const pinOf = (page: Page) => new URL(page.url()).searchParams.get("pin");

describe.skipIf(chromiumPath === undefined)("arranged by hand, in a browser", () => {
  beforeAll(async () => {
    const id = "training";
    await sendXtrack(
      server,
      toFrames([
        ["run_start", { run_id: { id, exp_id: "arranged" }, name: "the training" }],
        ...[1, 2, 3, 4].map((step): [string, object] => [
          "metric_batch",
          { run_id: id, step, metrics: { loss: 4 / step, lr: 0.1, acc: step / 10 } },
        ]),
        ["log", { run_id: id, level: "info", msg: "a line to point at" }],
        ["log", { run_id: id, level: "info", msg: "the line after it" }],
        ["run_end", { run_id: id, status: "completed" }],
      ]),
    );
    const spans = [{ id: "one", parent: null, name: "epoch", at: 1 }];
    await server.post("/v1/runs/profile/traces?wait=1", toBatchText("profile", spans));
    await drained(server);
  }, 240_000);

  test("ticked runs are joined into one, and the run's menu parts them again", async () => {
    await walk("/runs?filter=id%3Atraining%20OR%20id%3Aprofile", async (page) => {
      await page.getByText("2 of 2", { exact: true }).waitFor();
      await page.getByRole("checkbox", { name: "Select all runs" }).click();
      await page.getByRole("button", { name: "Join", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Join 2 runs into one" });
      // The one with a name stays, unless another is chosen.
      expect(await dialog.getByRole("radio", { name: /the training/ }).isChecked()).toBe(true);
      await dialog.getByRole("button", { name: "join", exact: true }).click();
      await page.getByText("1 of 1", { exact: true }).waitFor();
      await page.goto(`${server.app.url}/runs/profile`);
      await page.getByText("2 runs joined").waitFor();
      await page.getByText("xtrack", { exact: true }).first().waitFor();
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name: "Part joined runs" }).click();
      await page.getByRole("button", { name: "Part profile" }).click();
      await page.getByText("2 runs joined").waitFor({ state: "detached" });
      await page.goto(`${server.app.url}/runs?filter=id%3Atraining%20OR%20id%3Aprofile`);
      await page.getByText("2 of 2", { exact: true }).waitFor();
    });
  });

  test("a run is joined from the menu of another, and a dialog is closed by its button", async () => {
    await walk("/runs/training", async (page) => {
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name: "Join other runs to it" }).click();
      const dialog = page.getByRole("dialog", { name: "Join runs to the training" });
      const find = dialog.getByLabel("Find runs to join");
      await soon(() => find.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
      await find.fill("profile");
      await dialog.getByRole("checkbox", { name: /^profile/ }).check();
      await dialog.getByRole("button", { name: "join 1 run" }).click();
      await page.getByText("2 runs joined").waitFor();
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name: "Part joined runs" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name: "Part joined runs" }).click();
      await page.getByRole("button", { name: "part all" }).click();
      await page.getByText("2 runs joined").waitFor({ state: "detached" });
    });
  });

  test("a shared view of the charts is there in another browser, and shows the same", async () => {
    await walk("/runs/training/charts?scale=log&size=large&find=loss", async (page) => {
      await page.getByRole("button", { name: "views" }).click();
      await page.getByLabel("Name of this view").fill("losses");
      await page.getByLabel("for all of the workspace").check();
      await page.getByRole("button", { name: "save", exact: true }).click();
      await page.getByRole("button", { name: /^losses shared by/ }).waitFor();
    });
    await walk(`/runs/${profiledRun}/charts`, async (page) => {
      await page.getByRole("button", { name: "views" }).click();
      await page.getByRole("button", { name: /^losses shared by/ }).click();
      await page.waitForURL(/scale=log/);
      await soon(() => page.getByLabel("Find metrics").inputValue()).toBe("loss");
      await page.getByRole("button", { name: "losses" }).click();
      await page.getByRole("button", { name: "Keep losses to yourself" }).click();
      await page.getByRole("button", { name: "Share losses with all" }).waitFor();
      await page.getByRole("button", { name: "Forget losses" }).click();
      await page.getByText("No saved views yet.").waitFor();
    });
  });

  test("the vertical range of a panel is set by hand and given back, and says what it leaves out", async () => {
    await walk("/runs/training/charts", async (page) => {
      await plotOf(page, "loss");
      await panelOf(page, "loss").hover();
      await page.getByRole("button", { name: "Vertical range of loss" }).click();
      await page.getByLabel("from").fill("0");
      await page.getByLabel("to", { exact: true }).fill("3");
      await page.getByRole("button", { name: "set", exact: true }).click();
      await page.waitForURL(/range=loss%3A0%3A3/);
      await panelOf(page, "loss").getByText("1 above ▲").waitFor();
      await page.reload();
      await panelOf(page, "loss").getByText("1 above ▲").waitFor();
      await panelOf(page, "loss").hover();
      await page.getByRole("button", { name: "Vertical range of loss" }).click();
      await page.getByRole("button", { name: "all values" }).click();
      await panelOf(page, "loss").getByText("1 above ▲").waitFor({ state: "detached" });
    });
  });

  test("panels in front are put in order, which a link keeps", async () => {
    const order = (page: Page) =>
      page.getByRole("region", { name: "pinned" }).locator(".chart-panel h3").allTextContents();
    let link = "";
    await walk("/runs/training/charts?pinned=loss&pinned=acc&pinned=lr", async (page) => {
      await soon(() => order(page)).toEqual(["loss", "acc", "lr"]);
      await page.getByRole("button", { name: "Move lr to the front" }).focus();
      await page.keyboard.press("Enter");
      await soon(() => order(page)).toEqual(["loss", "lr", "acc"]);
      await page.getByRole("button", { name: "Move loss to the back" }).focus();
      await page.keyboard.press("Enter");
      await soon(() => order(page)).toEqual(["lr", "loss", "acc"]);
      link = page.url().slice(server.app.url.length);
    });
    await walk(link, async (page) => {
      await soon(() => order(page)).toEqual(["lr", "loss", "acc"]);
    });
  });

  test("a click on a log line pins its moment where it stands", async () => {
    await walk("/runs/training/logs", async (page) => {
      await page.getByText("the line after it").click();
      await soon(() => pinOf(page)).not.toBeNull();
      await page.locator(".log-line.pinned", { hasText: "the line after it" }).waitFor();
      // The lines before it stay in sight.
      await page.locator(".log-line", { hasText: "a line to point at" }).waitFor();
      await page.getByRole("link", { name: "Charts", exact: true }).click();
      await page.getByRole("link", { name: "Logs", exact: true }).click();
      await page.getByText("from the pinned moment").waitFor();
      await page.keyboard.press("Escape");
      await soon(() => pinOf(page)).toBeNull();
    });
  });

  test("a click on a span pins its moment, and so does the button of its details", async () => {
    await walk(`/runs/${profiledRun}/timeline`, async (page) => {
      await page.locator(".timeline-summary td").first().waitFor();
      const box = await zoomTimeline(page);
      // The second row of the first lane, which holds an epoch.
      await page.mouse.click(box.x + 500, box.y + 22 + 20 + 18 + 8);
      await soon(() => pinOf(page)).not.toBeNull();
      const clicked = pinOf(page);
      await page.getByRole("complementary", { name: "Span" }).getByRole("button", { name: "pin its start" }).click();
      await soon(() => pinOf(page)).not.toBe(clicked);
      await page.getByRole("region", { name: "The moment under the cursor" }).waitFor();
      await page.keyboard.press("Escape");
      await soon(() => pinOf(page)).toBeNull();
    });
  });
});
