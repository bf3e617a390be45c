// Verdicts, rules and the post-mortem on the page: what is said of a run, a rule made, tried, armed and fired.

import { describe, expect, test } from "vitest";
import { chromiumPath } from "./browser.ts";
import { sendXtrack, toFrames } from "./sample.ts";
import { suiteSite } from "./site.ts";
import { soon, walkOn } from "./walking.ts";

const [server, browser] = suiteSite("sample", { watching: "on" });

async function idOf(name: string): Promise<string> {
  const { body } = await server.get(`/api/v1/runs?filter=${encodeURIComponent(`name = "${name}"`)}`);
  return (body as { runs: { id: string }[] }).runs[0]?.id ?? "";
}

/** A picture for people, where a folder for them is named. */
async function picture(page: { screenshot(options: object): Promise<unknown> }, name: string): Promise<void> {
  const folder = process.env["TRIBUTARY_TEST_PICTURES"];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
}

describe.skipIf(chromiumPath === undefined)("what watches for you", () => {
  test("the overview says what is wrong, and leads to where it is seen", async () => {
    const id = await idOf("gpt-diverges-nan");
    await walkOn(browser, `${server.app.url}/runs/${id}`, async (page) => {
      const finding = page.locator(".entry[data-code=nonfinite]");
      await finding.getByText("loss (train) is not finite from step 1 on.").waitFor();
      await finding.getByText("Lower the learning rate (it is 1e+30)").waitFor();
      await picture(page, "verdict");
      await finding.getByRole("link", { name: "charts" }).click();
      await page.waitForURL(/\/charts\?find=loss/);
    });
  });

  test("a rule is made as a dry run, tried on past runs, and armed by a step of its own", async () => {
    await walkOn(browser, `${server.app.url}/rules`, async (page) => {
      await page.getByRole("button", { name: "new rule" }).click();
      await page.getByLabel("name").fill("stop-on-nan");
      await page.getByLabel("looks for").selectOption("nonfinite");
      await page.getByLabel("then sends").selectOption("checkpoint_now stop");
      await picture(page, "new-rule");
      await page.getByRole("button", { name: "make it, as a dry run" }).click();
      const row = page.locator("tr", { has: page.locator("[data-rule=stop-on-nan]") });
      await row.getByText("dry run").waitFor();
      await row.getByText("sends checkpoint_now, then stop").waitFor();
      await row.getByRole("button", { name: "try on past runs" }).click();
      await page.getByText(/It would have fired on 1 of \d+ runs\./).waitFor();
      await picture(page, "tried");
      await page.keyboard.press("Escape");
      await row.getByRole("button", { name: "arm", exact: true }).click();
      await page.getByRole("button", { name: "arm it" }).click();
      await row.getByText("armed", { exact: true }).waitFor();
      await picture(page, "rules");
    });
  });

  test("a rule that fires is told on whatever page one is, listed, and shown with the run", async () => {
    await walkOn(browser, `${server.app.url}/runs`, async (page) => {
      await page.getByText("gpt-fails").first().waitFor();
      const events: [string, object][] = [["run_start", { run_id: { id: "turns" }, name: "it turns" }]];
      for (let step = 0; step < 60; step++)
        events.push(["metric", { run_id: "turns", key: "loss", value: step < 40 ? 1 / (step + 1) : null, step }]);
      for (let step = 60; step < 64; step++)
        events.push(["metric", { run_id: "turns", key: "loss", value: "$NaN", step }]);
      await sendXtrack(server, toFrames(events, Date.now(), "w0"));
      const toast = page.locator(".alert-toast");
      await toast.getByText("it turns: loss is not finite from step 60 on.").waitFor({ timeout: 30_000 });
      await picture(page, "toast");
      await toast.getByRole("link").click();
      const alerts = page.getByRole("region", { name: "Alerts" });
      await alerts.getByText("loss is not finite from step 60 on.").first().waitFor();
      // Points without a value are not points of value 0.
      await alerts.getByText("the last finite value was 0.025").first().waitFor();
      await picture(page, "run-alerts");
      await page.getByRole("link", { name: "Charts", exact: true }).click();
      await page.locator("canvas").first().waitFor();
      await picture(page, "chart-mark");
      await page.getByRole("link", { name: "Rules", exact: true }).click();
      await soon(() => page.locator("li.entry[data-code=stop-on-nan]").count()).toBe(1);
      await page.locator("li.entry[data-code=stop-on-nan]").getByRole("link", { name: "it turns" }).waitFor();
    });
  });

  test("the post-mortem says why a run died, with its traceback and last metrics", async () => {
    const id = await idOf("gpt-fails");
    await walkOn(browser, `${server.app.url}/runs/${id}`, async (page) => {
      await page.getByRole("link", { name: "Post-mortem" }).click();
      await page.getByText("It ran out of the GPU's memory.").waitFor();
      await page
        .getByRole("region", { name: "traceback" })
        .getByText("RuntimeError: CUDA out of memory")
        .first()
        .waitFor();
      expect(await page.getByRole("region", { name: "last metrics" }).locator("tbody tr").count()).toBeGreaterThan(2);
      await picture(page, "post-mortem");
    });
  });
});
