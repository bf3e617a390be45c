// The steps of deploy/Dockerfile make a collector: carried out one by one in a folder, and run as the image would be.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { toBatchText } from "../support/cirron-batch.ts";
import { type Image, nodeId, readSteps, replaySteps, shellEnv } from "../support/image.ts";
import { eventually, freePort } from "../support/several.ts";

const checkout = join(import.meta.dirname, "../..");
const isOffline = /\b(ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENETUNREACH)\b/;
let folder: string;
let child: ChildProcess | null = null;

afterAll(async () => {
  child?.kill("SIGKILL");
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

test("the image's collector starts as nobody special, takes and shows data, and ends when it is told to", async (context) => {
  folder = await mkdtemp(join(tmpdir(), "tributary-image-"));
  const steps = readSteps(await readFile(join(checkout, "deploy/Dockerfile"), "utf8"));
  const image = await replaySteps(steps, checkout, folder).catch((error: Error) => {
    if (!isOffline.test(error.message) || process.env["TRIBUTARY_TEST_ALL"] === "1") throw error;
    console.error("SKIPPED: npm reaches no registry, so the steps of the image cannot be carried out");
    return context.skip();
  });
  expect([image.user, image.command]).toEqual(["node", ["tributary", "up"]]);
  const url = await start(image);

  const batch = toBatchText("image", [{ id: "root", parent: null, name: "cirron.session", at: 0 }]);
  const headers = { "content-type": "application/json" };
  const posted = await fetch(`${url}/v1/runs/image/traces?wait=1`, { method: "POST", body: batch, headers });
  expect(posted.status).toBe(202);
  expect(await (await fetch(`${url}/api/v1/runs/image`)).json()).toMatchObject({ counts: { spans: 1 } });
  const page = await fetch(url);
  expect([page.status, page.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/html")]);
  expect((await stat(join(image.root, "data/journal"))).uid).toBe(nodeId);

  const exited = once(child as ChildProcess, "exit");
  (child as ChildProcess).kill(image.stopSignal as NodeJS.Signals);
  expect(await exited).toEqual([0, null]);
});

/** As the image says, but on ports of loopback that nobody has. */
async function start(image: Image): Promise<string> {
  const [http, xtrack] = [await freePort(), await freePort()];
  const own = Object.fromEntries(
    Object.entries(image.env).map(([name, value]) => [name, value.startsWith("/") ? join(image.root, value) : value]),
  );
  const listen = { TRIBUTARY_HTTP: `127.0.0.1:${http}`, TRIBUTARY_XTRACK: `127.0.0.1:${xtrack}` };
  const env = { ...shellEnv(image), HOME: join(image.root, "data"), ...own, ...listen };
  const [program, ...args] = image.command as [string, ...string[]];
  const who = process.getuid?.() === 0 ? { uid: nodeId, gid: nodeId } : {};
  const path = join(image.root, "usr/local/bin", program);
  child = spawn(path, args, { cwd: join(image.root, "app"), env, stdio: ["ignore", "ignore", "inherit"], ...who });
  await once(child, "spawn");
  const url = `http://127.0.0.1:${http}`;
  await eventually(
    async () => (await fetch(`${url}/healthz`).catch(() => null))?.ok === true,
    "the collector did not start",
    120_000,
  );
  return url;
}
