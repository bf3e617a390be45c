// A backup of a server whose disk is full, to another disk.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runInTest } from "#cli/run-cli.testing.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { CollectorProcess } from "../support/collector-process.ts";
import { makeFolder } from "../support/folder.ts";
import { toFrame } from "../support/frames.ts";
import { childrenOf } from "../support/process-tree.ts";
import { eventually } from "../support/several.ts";
import { fill, mountDisk } from "../support/small-disk.ts";

async function listRuns(url: string): Promise<string[]> {
  const { runs } = (await (await fetch(`${url}/api/v1/runs`)).json()) as { runs: { id: string }[] };
  return runs.map(({ id }) => id).sort();
}

test("has all that is stored, says that the rest is not in it, and needs no room on the full disk", async ({
  skip,
}) => {
  const disk = mountDisk("192m");
  if (disk === null) return skip("mounting a small disk needs root");
  const server = await CollectorProcess.make(join(disk, "data"), {});
  onTestFinished(() => server.kill());
  await server.start();
  const send = async (id: string) => {
    const body = toBatchText(id, [{ id, parent: null, name: id, at: 1 }]);
    return (await fetch(`${server.url}/v1/runs/${id}/traces`, { method: "POST", body })).status;
  };
  expect(await send("stored")).toBe(202);
  const frames = Array.from({ length: 30_000 }, (_, seq) => {
    const payload = { run_id: "long", key: "loss", value: Math.sin(seq), step: seq };
    return toFrame({ type: "metric", seq, ts: seq, payload });
  });
  const headers = { "content-type": "application/octet-stream" };
  await fetch(`${server.url}/v1/xtrack`, { method: "POST", body: Buffer.concat(frames), headers });
  await fetch(`${server.url}/readyz?drained=1`);
  // Until the disk is full, the store takes nothing more.
  for (const engine of childrenOf(server.pid)) process.kill(engine, "SIGSTOP");
  for (const id of ["planned", "ahead", "journalled"]) expect(await send(id)).toBe(202);
  const hasPlan = () => readdirSync(join(disk, "data", "outbox")).some((name) => name.endsWith(".plan"));
  await eventually(hasPlan, "no plan was made");
  fill(join(disk, "filler"));
  for (const engine of childrenOf(server.pid)) process.kill(engine, "SIGCONT");
  const isFull = async () => (await (await fetch(`${server.url}/readyz`)).text()).includes("disk is full");
  await eventually(isFull, "the disk is not full");

  const folder = makeFolder();
  const file = join(folder, "all.tar");
  const taken = await runInTest(["backup", file, "--server", server.url]);
  expect([taken.code, taken.err]).toEqual([0, expect.stringContaining("is not in the backup")]);

  const dataDir = join(folder, "restored");
  expect(await runInTest(["restore", file, "--data", dataDir])).toMatchObject({ code: 0, err: "" });
  const restored = await CollectorProcess.make(dataDir, {});
  onTestFinished(() => restored.kill());
  await restored.start();
  expect(await listRuns(restored.url)).toEqual(expect.arrayContaining(["stored", "long"]));
  // A table that could not be copied first is in pieces.
  expect(readFileSync(file).includes("tables/metrics.native.1")).toBe(true);
  const long = (await (await fetch(`${restored.url}/api/v1/runs/long`)).json()) as { counts: { points: number } };
  expect(long.counts.points).toBe(30_000);
});
