// The lines that the page gives to copy are run as they stand, in a shell, against the server that gave them.

import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { SessionAnswer } from "#api/contract/admin.ts";
import { toRecipes } from "../../web/src/view/start/recipes.ts";
import { suiteApp } from "../support/app.ts";
import { suiteFolder } from "../support/folder.ts";

const root = join(import.meta.dirname, "../..");
const server = suiteApp();
const folder = suiteFolder();
let recipes: ReturnType<typeof toRecipes>;

beforeAll(async () => {
  // What the lines name: a training script, a recorded file, a spool, a trace.
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/python"), "#!/bin/sh\necho trained\n");
  chmodSync(join(folder, "bin/python"), 0o755);
  const data = join(root, "examples/data");
  copyFileSync(join(data, "h200/cirron-full-twin.xtrack.bin"), join(folder, "xtrack_events.bin"));
  cpSync(join(data, "h200/cirron-full/.cirron"), join(folder, ".cirron"), { recursive: true });
  mkdirSync(join(folder, "traces"));
  copyFileSync(join(data, "semantiva/failed.trace.jsonl"), join(folder, "traces/trace.ser.jsonl"));
  copyFileSync(join(data, "semantiva/failed.trace.jsonl"), join(folder, "trace.ser.jsonl"));
  recipes = toRecipes((await server.get("/api/v1/session")).body as SessionAnswer, server.app.url);
});

/** Resolves with the exit code, or with null once `until` holds and the line, which would go on, was interrupted. */
async function runLine(line: string, until?: () => Promise<boolean>): Promise<number | null> {
  const env = { ...process.env, PATH: `${join(folder, "bin")}:${process.env["PATH"]}` };
  const child = spawn("sh", ["-c", `exec ${line}`], { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  if (until !== undefined) {
    await expect.poll(until, { timeout: 60_000 }).toBe(true);
    child.kill("SIGINT");
  }
  return ended;
}

async function total(filter: string): Promise<number> {
  const { body } = await server.get(`/api/v1/runs?limit=1&filter=${encodeURIComponent(filter)}`);
  return (body as { total: number }).total;
}

function linesOf(name: string): string[] {
  return recipes.find((recipe) => recipe.name === name)?.steps.map(({ line }) => line) ?? [];
}

test("any program is run under capture, and its output is there", async () => {
  const [line = ""] = linesOf("any program");
  expect(await runLine(line)).toBe(0);
  await expect.poll(() => total("status:completed"), { timeout: 20_000 }).toBe(1);
});

test("a recorded XTrack file and a Cirron spool are taken in", async () => {
  const [, xtrack = ""] = linesOf("XTrack");
  expect(await runLine(xtrack)).toBe(0);
  expect(await total("name:gpt-32-full-snapshots")).toBe(1);
  const [, cirron = ""] = linesOf("Cirron");
  expect(await runLine(cirron)).toBe(0);
  expect(await total("protocol:cirron")).toBeGreaterThan(0);
});

test("a folder of Semantiva traces is followed, and a file is posted", async () => {
  const [follow = "", post = ""] = linesOf("Semantiva");
  await runLine(follow, async () => (await total("protocol:semantiva")) === 1);
  expect(await runLine(`${post} --fail --silent --output /dev/null`)).toBe(0);
});

test("lines for emitters name the address that is listened at", () => {
  expect(linesOf("XTrack")[0]).toContain("XTRACK_HOST=127.0.0.1 XTRACK_PORT=");
  expect(linesOf("Cirron")[0]).toContain(`CIRRON_API_ENDPOINT=${server.app.url} `);
});
