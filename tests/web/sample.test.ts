// A person walks through the bundled sample.

import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { chromiumPath } from "./browser.ts";
import { evil, sendEvil } from "./evil.ts";
import {
  failedPipeline,
  profiledRun,
  sendOrphan,
  sendRecorded,
  sendSecondAttempt,
  sendXtrack,
  toFrames,
} from "./sample.ts";
import { suiteSite } from "./site.ts";
import { boxOf, drag, soon, timersFired, walkOn } from "./walking.ts";

const [server, browser] = suiteSite("sample");

describe.skipIf(chromiumPath === undefined)("in a browser", () => {
  const walk = (path: string, steps: (page: Page) => Promise<void>) => walkOn(browser, server.app.url + path, steps);

  const rows = (page: Page) => page.getByRole("table", { name: "Runs" }).getByRole("row");
  const names = (page: Page) => page.locator(".grid-row .run-name").allTextContents();

  test("the runs table filters, sorts and groups, and its state is in the address", async () => {
    await walk("/runs", async (page) => {
      await page.getByText("gpt-w256-lr0.003").first().waitFor();
      await page.getByLabel("Filter runs").fill("name~gpt-w AND params.lr<0.001");
      await page.getByLabel("Filter runs").press("Enter");
      await page.getByText("3 of 3").waitFor();
      expect((await names(page)).sort()).toEqual(["gpt-w128-lr0.0003", "gpt-w256-lr0.0003", "gpt-w64-lr0.0003"]);
      expect(new URL(page.url()).searchParams.get("filter")).toBe("name~gpt-w AND params.lr<0.001");
    });
    await walk("/runs?filter=name~gpt-w&columns=metrics.val_loss.last&sort=metrics.val_loss.last", async (page) => {
      await page.getByText("12 of 12").waitFor();
      expect((await names(page))[0]).toBe("gpt-w256-lr0.003");
      await page.getByRole("button", { name: "val_loss", exact: true }).click();
      await page.waitForURL(/sort=-metrics/);
      await soon(async () => (await names(page))[0]).not.toBe("gpt-w256-lr0.003");
    });
    await walk("/runs?group=experiment&filter=experiment%3Ah200-gpt-sweep", async (page) => {
      const group = page.getByRole("button", { name: "h200-gpt-sweep" });
      await group.waitFor();
      const before = await rows(page).count();
      await group.click();
      await soon(() => rows(page).count()).toBeLessThan(before);
    });
  });

  test("columns are moved by mouse and by key, resized, pinned and hidden, and the address keeps all of it", async () => {
    await walk("/runs?columns=params.lr&columns=params.seed&filter=name~gpt-w", async (page) => {
      await page.getByText("12 of 12").waitFor();
      const heads = () =>
        page
          .locator(".grid-head [data-field]")
          .evaluateAll((all) => all.map((each) => each.getAttribute("data-field")));
      const head = (field: string) => page.locator(`.grid-head [data-field="${field}"]`);
      const middle = async (field: string) => {
        const box = await boxOf(head(field));
        return { x: box.x + box.width * 0.3, y: box.y + 14, width: box.width };
      };
      expect(await heads()).toEqual(["status", "protocol", "params.lr", "params.seed", "spark", "start", "duration"]);
      const [from, to] = [await middle("params.lr"), await middle("start")];
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(to.x, to.y, { steps: 8 });
      await page.mouse.up();
      await soon(heads).toEqual(["status", "protocol", "params.seed", "spark", "params.lr", "start", "duration"]);
      expect(new URL(page.url()).searchParams.has("sort")).toBe(false);
      await head("params.lr").locator(".grid-sort").focus();
      await page.keyboard.press("Alt+ArrowLeft");
      await soon(heads).toEqual(["status", "protocol", "params.seed", "params.lr", "spark", "start", "duration"]);
      const edge = page.getByRole("separator", { name: "Width of lr" });
      const grip = await boxOf(edge);
      await drag(page, [grip.x + 3, grip.y + 8], [grip.x + 83, grip.y + 8]);
      await soon(async () => (await middle("params.lr")).width).toBe(96 + 80);
      await edge.focus();
      await page.keyboard.press("ArrowLeft");
      await page.waitForURL(/widths=params.lr%3A160/);
      await page.getByRole("button", { name: "Column lr" }).click();
      await page.getByRole("menuitem", { name: "Keep in place" }).click();
      await soon(heads).toEqual(["status", "params.lr", "protocol", "params.seed", "spark", "start", "duration"]);
      await page.getByRole("button", { name: "Column seed" }).click();
      await page.getByRole("menuitem", { name: "Hide" }).click();
      const kept = ["status", "params.lr", "protocol", "spark", "start", "duration"];
      await soon(heads).toEqual(kept);
      await page.reload();
      await page.getByText("12 of 12").waitFor();
      expect(await heads()).toEqual(kept);
      expect((await middle("params.lr")).width).toBe(160);
    });
  });

  test("ticking with Shift takes every run between, and they can be compared", async () => {
    await walk("/runs?filter=name~gpt-w&sort=name", async (page) => {
      await page.getByText("12 of 12").waitFor();
      const boxes = page.getByRole("checkbox", { name: /^Select gpt/ });
      await boxes.nth(1).click();
      await boxes.nth(4).click({ modifiers: ["Shift"] });
      await page.getByText("4 selected").waitFor();
      await page.getByRole("button", { name: "Compare" }).click();
      await soon(() => page.locator(".legend-item").count()).toBe(4);
    });
  });

  test("the palette goes to a metric of the table, to a run, to a metric of the run, and to a question", async () => {
    await walk("/runs", async (page) => {
      await page.locator(".run-name").first().waitFor();
      const ask = async (text: string) => {
        await page.keyboard.press("Control+k");
        await page.getByPlaceholder("go to a run").fill(text);
      };
      await ask("val_loss");
      await page.getByRole("option", { name: /runs by val_loss metrics\.val_loss@val/ }).click();
      await page.waitForURL(/sort=metrics\.val_loss/);
      await ask("gpt-128-prof");
      await page.getByRole("option", { name: /gpt-128-profiled/ }).click();
      await page.waitForURL(/charts/);
      await page.getByRole("heading", { name: "gpt-128-profiled" }).waitFor();
      await ask("grad_norm");
      await page.getByRole("option", { name: /grad_norm train/ }).click();
      await page.waitForURL(/panel=grad_norm/);
      const large = page.locator(".chart-panel.expanded");
      await large.waitFor();
      expect(await large.getAttribute("aria-label")).toBe("train · grad_norm");
      await ask("pause");
      await page.getByRole("option", { name: /Pause/ }).click();
      await page.waitForURL(/control\?ask=pause/);
      await ask("health");
      await page.getByRole("option", { name: "Health" }).click();
      await page.getByText("events a second").waitFor();
    });
  });

  test("the palette gives the focus back to where it was, however it is closed", async () => {
    await walk("/runs", async (page) => {
      await page.locator(".run-name").first().waitFor();
      const filter = page.getByLabel("Filter runs");
      const palette = page.getByRole("dialog", { name: "Command palette" });
      const isBack = () => filter.evaluate((input) => input === input.ownerDocument.activeElement);
      const ways = [
        () => page.keyboard.press("Escape"),
        () => page.keyboard.press("Control+k"),
        () => page.mouse.click(5, 5),
        async () => {
          await page.getByPlaceholder("go to a run").fill("dark theme");
          await page.keyboard.press("Enter");
        },
      ];
      for (const close of ways) {
        await filter.focus();
        await page.keyboard.press("Control+k");
        await palette.waitFor();
        await close();
        await palette.waitFor({ state: "detached" });
        expect(await isBack()).toBe(true);
      }
    });
  });

  test("a long list scrolls by itself and never stretches the page", async () => {
    await walk(`/runs/${profiledRun}/events`, async (page) => {
      await page.locator(".log-line").first().waitFor();
      const [over, lines] = await page.evaluate<[number, number]>(
        "[document.documentElement.scrollHeight - innerHeight, document.querySelectorAll('.log-line').length]",
      );
      expect(over).toBe(0);
      expect(lines).toBeLessThan(120);
    });
  });

  test("a filter may be typed with pauses: the space before its next word stays", async () => {
    await walk("/runs", async (page) => {
      const filter = page.getByLabel("Filter runs");
      await filter.pressSequentially("status:failed ");
      await page.waitForURL(/filter=status%3Afailed$/);
      await timersFired(page, 400);
      expect(await filter.inputValue()).toBe("status:failed ");
    });
  });

  test("a filter that cannot be read says where", async () => {
    const visit = await browser.visit(`${server.app.url}/runs?filter=${encodeURIComponent("status:failed AND (lr<")}`);
    await visit.page.locator(".filter-error").waitFor();
    expect(await visit.page.locator(".filter-error").textContent()).not.toBe("");
    await visit.close();
  });

  test("comparing the sweep shows every run, marks the one that became NaN, and never hides it", async () => {
    const { body } = await server.get("/api/v1/runs?limit=100&filter=experiment%3Ah200-gpt-sweep");
    const all = (body as { runs: { id: string; name: string }[] }).runs.filter((run) => run.id !== profiledRun);
    expect(all).toHaveLength(14);
    const query = all.map((run) => `run=${run.id}`).join("&");
    await walk(`/compare?${query}`, async (page) => {
      await soon(() => page.locator(".legend-item").count()).toBe(14);
      await page.getByText("✕ NaN in 1").first().waitFor();
      await page.getByRole("link", { name: "Parameters" }).click();
      await page.getByRole("cell", { name: "lr", exact: true }).waitFor();
      expect(await page.locator(".diff").textContent()).toMatch(/NaN\s*✕\d+/);
      await page
        .getByRole("region", { name: "Point of divergence" })
        .getByText(/step \d+:/)
        .first()
        .waitFor();
      await page.getByRole("link", { name: "Parallel coordinates" }).click();
      await soon(() => page.locator(".parallel path").count()).toBe(14);
      const axis = await boxOf(page.locator(".parallel rect").first());
      await page.getByText("14 runs pass").waitFor();
      await drag(page, [axis.x + 14, axis.y + axis.height - 2], [axis.x + 14, axis.y + axis.height * 0.6]);
      await soon(() => page.getByText("14 runs pass").count()).toBe(0);
      const passing = Number.parseInt((await page.getByText(/runs? pass/).textContent()) ?? "", 10);
      await page.getByRole("button", { name: "keep only these" }).click();
      await soon(() => page.locator(".legend-item").count()).toBe(passing);
      await page.goBack();
      await soon(() => page.locator(".legend-item").count()).toBe(14);
      await page.getByRole("link", { name: "Scatter" }).click();
      await page.getByText(/not drawn.*gpt-diverges-nan/).waitFor();
      await page.getByRole("link", { name: "Charts" }).click();
      await page.getByRole("button", { name: "gpt-w256-lr0.003", exact: true }).click();
      expect(await page.locator(".legend-item.faded").count()).toBe(13);
    });
  });

  test("a failed pipeline shows the node that failed, why, and what never ran", async () => {
    await walk(`/runs/${failedPipeline}/pipeline`, async (page) => {
      await page.getByRole("button", { name: /FloatDivideOperation/ }).waitFor();
      const details = page.getByRole("complementary", { name: "Node FloatDivideOperation" });
      await soon(() => details.getByText("Division by zero is not allowed", { exact: true }).count()).toBe(2);
      expect(await page.locator(".node-missing").count()).toBe(2);
      await page.locator(".node-missing").first().click();
      await page.getByText("the pipeline failed at FloatDivideOperation, so it probably never ran").waitFor();
    });
  });

  test("a node that ran without being declared is drawn as such, and one never heard of stays missing", async () => {
    await sendOrphan(server, "orphan-pipeline");
    await walk("/runs/orphan-pipeline/pipeline", async (page) => {
      await page.locator(".node-orphan").getByText("not declared").waitFor();
      expect(await page.locator(".node-missing").count()).toBeGreaterThan(0);
      await page.getByRole("link", { name: "Integrity" }).click();
      await page.getByRole("region", { name: "Completeness" }).getByText("not declared").waitFor();
    });
  });

  test("runs are compared by the time of their spans and by their tensors, and values come out of a blob", async () => {
    const stored = await sendRecorded(server, "with-blobs");
    await walk(`/compare?run=${profiledRun}&run=${stored.run}&tab=time`, async (page) => {
      await page
        .getByRole("row", { name: /forward/ })
        .getByText(/[+−].*%/)
        .waitFor();
    });
    // The third run has no tensor in common with the others, and is not asked for any.
    await walk(`/compare?run=${stored.run}&run=with-blobs-too&run=${profiledRun}&tab=time`, async (page) => {
      await page.locator(".table td").first().waitFor();
      await page.getByRole("link", { name: "Tensors" }).click();
      await soon(() => page.locator(".ridges").count()).toBe(2);
      await page.getByLabel("Tensor").selectOption(stored.tensor);
      await soon(() => page.getByRole("img", { name: `${stored.tensor} of` }).count()).toBe(2);
    });
    await walk(`/runs/${stored.run}/tensors?tensor=${stored.tensor}`, async (page) => {
      await page
        .getByRole("region", { name: stored.tensor, exact: true })
        .getByLabel("values")
        .selectOption({ index: 1 });
      await page.getByRole("img", { name: "Histogram of all values" }).waitFor();
    });
  });

  test("a launch is a grid of its runs, and a second attempt stands beside the first", async () => {
    await walk("/launches", async (page) => {
      await page.getByText("8/8").waitFor();
      await sendSecondAttempt(server);
      await soon(() => page.getByText("8/8").count()).toBe(2);
      await page.locator("td a.mono").first().click();
      await page.getByRole("region", { name: "Grid" }).waitFor();
      expect(await page.locator(".cell.status-completed").count()).toBe(8);
      expect(await page.locator(".chip", { hasText: /^attempt/ }).allTextContents()).toEqual([
        "attempt 1",
        "attempt 2",
      ]);
      await page.getByLabel("down").selectOption("none");
      await page.waitForURL(/y=none/);
      await page.locator("a.cell").first().click();
      await page.waitForURL(/\/runs\//);
    });
  });

  test("SQL answers with a table, and an error says where", async () => {
    await walk("/sql", async (page) => {
      await page.getByLabel("SQL query").fill("SELECT key, count() AS n FROM metrics GROUP BY key ORDER BY key");
      await page.getByLabel("SQL query").press("Control+Enter");
      await page.getByRole("cell", { name: "grad_norm" }).first().waitFor();
      const query = page.getByLabel("SQL query");
      await query.fill("SELECT step, value FROM metr");
      await page
        .getByRole("option", { name: /^metrics/ })
        .first()
        .waitFor();
      await query.press("Tab");
      expect(await query.inputValue()).toBe("SELECT step, value FROM metrics");
      await query.press("Control+Enter");
      await page.getByRole("columnheader", { name: /^value/ }).waitFor();
      await page.getByRole("button", { name: "chart", exact: true }).click();
      await page.getByRole("slider", { name: "Chart of the result" }).locator("canvas").waitFor();
    });
  });

  test("ticked runs are tagged, exported and deleted, and a run gets another name", async () => {
    for (const id of ["temp-1", "temp-2", "temp-3"]) {
      await sendXtrack(server, toFrames([["run_start", { run_id: { id, exp_id: "temp" }, name: id }]], Date.now(), id));
    }
    await walk("/runs?filter=experiment%3Atemp&sort=name", async (page) => {
      await page.getByText("3 of 3").waitFor();
      await page.getByRole("checkbox", { name: "Select all runs" }).click();
      await page.getByRole("button", { name: "Tag" }).click();
      await page.getByLabel("Tag", { exact: true }).fill("doomed");
      await page.getByRole("button", { name: "add the tag" }).click();
      await soon(() => page.locator(".grid-row .chip", { hasText: "doomed" }).count()).toBe(3);
      await page.getByRole("button", { name: "Export" }).click();
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("menuitem", { name: "CSV, the table as shown" }).click(),
      ]);
      expect((await readFile(await file.path(), "utf8")).trim().split("\n")).toHaveLength(4);
      await page.getByRole("button", { name: "Export" }).click();
      const [all] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("menuitem", { name: "JSONL, everything" }).click(),
      ]);
      expect(await readFile(await all.path(), "utf8")).toContain("temp-2");
      await page.getByRole("checkbox", { name: "Select temp-1" }).click();
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("button", { name: "delete 2 runs" }).click();
      await soon(() => names(page)).toEqual(["temp-1"]);
      await page.getByRole("link", { name: "temp-1" }).click();
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name: "Edit name, tags, notes" }).click();
      await page.getByLabel("name", { exact: true }).fill("a better name");
      await page.getByRole("button", { name: "save" }).click();
      await page.getByRole("heading", { name: "a better name" }).waitFor();
    });
  });

  test("how long runs are kept is set in the settings, and who did it is told there", async () => {
    await walk("/settings", async (page) => {
      const days = page.getByRole("spinbutton");
      await days.fill("36500");
      await page.getByRole("button", { name: "save" }).click();
      await page.getByRole("region", { name: "Audit" }).getByText("36500").waitFor();
      await page.reload();
      await soon(() => days.inputValue()).toBe("36500");
    });
  });

  test("text from users is shown as text, wherever it stands", async () => {
    await sendEvil(server);
    const ofRun = ["", "/charts", "/logs", "/files", "/params", "/events", "/timeline", "/tensors", "/report"];
    const views = [
      "/runs",
      "/runs?group=experiment",
      ...ofRun.map((tab) => `/runs/evil-run${tab}`),
      "/runs/evil-pipeline/pipeline",
      "/compare?run=evil-run&run=evil-pipeline&tab=params",
      "/health",
    ];
    await walk("/start", async (page) => {
      for (const view of views) {
        await page.goto(server.app.url + view);
        await page.getByText(evil, { exact: false }).filter({ visible: true }).first().waitFor();
        expect(await page.locator("img, script:not([src])").count()).toBe(0);
      }
      const fault = page.locator(".fault", { hasText: evil }).first();
      const code = await fault.locator("code").first().textContent();
      const reason = page
        .getByRole("region", { name: "Faults" })
        .locator(".panel-head button", { hasText: code ?? "" });
      await reason.first().click();
      expect(await reason.first().getAttribute("aria-pressed")).toBe("true");
      await fault.locator(".fault-head").click();
      await fault.getByText("3c 69 6d 67 20 73 72 63 3d 78").waitFor();
    });
  });
});
