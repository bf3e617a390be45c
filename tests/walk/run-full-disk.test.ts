// `tributary run` beside a server whose disk is full, or that stands still: the program starts, ends and exits as if there
// were no server.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { toBatchText } from "../support/cirron-batch.ts";
import { CollectorProcess } from "../support/collector-process.ts";
import { makeFolder } from "../support/folder.ts";
import { toFrame } from "../support/frames.ts";
import { eventually } from "../support/several.ts";
import { fill, mountDisk } from "../support/small-disk.ts";

const main = join(import.meta.dirname, "../../src/main.ts");

function toLeftFrames(run: string): Buffer {
  return toFrame({ type: "metric", seq: 1, ts: 1, payload: { run_id: run, key: "loss", value: 1, step: 1 } });
}

test("the program neither waits for the server nor for what earlier ones left, and nothing is lost", async ({
  skip,
}) => {
  const disk = mountDisk("192m");
  if (disk === null) return skip("mounting a small disk needs root");
  const server = await CollectorProcess.make(join(disk, "data"), {});
  onTestFinished(() => server.kill());
  await server.start();
  fill(join(disk, "filler"));
  const batch = toBatchText("left", [{ id: "left", parent: null, name: "left", at: 1 }]);
  const send = () => fetch(`${server.url}/v1/traces`, { method: "POST", body: batch });
  await eventually(async () => (await send()).status === 429, "the server still takes what is sent");

  const folder = makeFolder();
  const own = join(folder, "own");
  mkdirSync(join(folder, ".xtrack"));
  writeFileSync(join(folder, ".xtrack", "earlier.xtrack.bin"), toLeftFrames("earlier"));
  const run = async () => {
    const program = ["--", process.execPath, "-e", 'console.log("here"); process.exitCode = 7'];
    const words = [main, "run", "--run-id", "full", "--server", server.url, "--data", own, ...program];
    const child = spawn(process.execPath, words, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    return { out, err, code };
  };
  const first = await run();
  expect([first.out, first.code, first.err]).toEqual(["here\n", 7, expect.stringMatching(/\d requests wait in/)]);
  expect(readdirSync(join(folder, ".xtrack"))).toHaveLength(1);

  rmSync(join(disk, "filler"));
  await eventually(async () => (await fetch(`${server.url}/readyz`)).ok, "it did not go on", 60_000);
  expect(await run()).toMatchObject({ out: "here\n", code: 7 });
  expect([readdirSync(join(folder, ".xtrack")), readdirSync(join(own, "spool"))]).toEqual([[], []]);
  const { runs } = (await (await fetch(`${server.url}/api/v1/runs`)).json()) as { runs: { id: string }[] };
  expect(runs.map(({ id }) => id)).toEqual(expect.arrayContaining(["full", "earlier"]));
});

test("a server that stands still keeps nobody for long, however many samples are taken meanwhile", async () => {
  const folder = makeFolder();
  const server = await CollectorProcess.make(join(folder, "data"), {});
  onTestFinished(() => server.kill());
  await server.start();
  server.signal("SIGSTOP");
  const program = ["--", process.execPath, "-e", "process.exitCode = 4"];
  const words = [main, "run", "--sample", "100ms", "--server", server.url, "--data", join(folder, "own"), ...program];
  const child = spawn(process.execPath, words, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [err, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect([code, err]).toEqual([4, expect.stringMatching(/\d requests wait in/)]);
});
