// Whole programs: how they end, and what is left when they are killed.

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../support/folder.ts";
import { readBatch, readSpool } from "./read-spool.ts";
import { moduleUrl, runProgram, startProgram } from "./sandbox.ts";

const sdk = `import { profile, scope, mark, span, epochs, steps, health, shutdown } from ${JSON.stringify(moduleUrl("src/emit/cirron.ts"))};`;
const names = (folder: string) => readSpool(`${folder}/.cirron`).spans.map((row) => row.name);

describe("the end of a program", () => {
  it("closes the session when the program simply ends", async () => {
    const folder = makeFolder();
    const { code } = await runProgram(folder, `${sdk} profile(); scope("work", () => mark("x", 1));`);
    expect(code).toBe(0);
    expect(names(folder)).toEqual(["work", "cirron.session"]);
  });

  it("closes the session on process.exit, and on an uncaught error, whose message and code stay the same", async () => {
    const folder = makeFolder();
    const exit = await runProgram(folder, `${sdk} profile(); span("open"); process.exit(7);`);
    expect(exit.code).toBe(7);
    expect(names(folder)).toEqual(["open", "cirron.session"]);
    const crashed = makeFolder();
    const crash = await startProgram(crashed, `${sdk} profile(); scope("bad", () => { throw new Error("mine"); });`)
      .ended;
    expect(crash.code).toBe(1);
    expect(crash.stderr).toContain("Error: mine");
    expect(names(crashed)).toEqual(["bad", "cirron.session"]);
  });

  it("closes the session on SIGTERM and still dies of the signal", async () => {
    const folder = makeFolder();
    const child = startProgram(
      folder,
      `${sdk} profile(); span("open"); setInterval(() => {}, 1000); console.log("up");`,
    );
    await child.said("up");
    child.kill("SIGTERM");
    expect((await child.ended).signal).toBe("SIGTERM");
    expect(names(folder)).toEqual(["open", "cirron.session"]);
  });

  it("leaves the end to the program when it handles SIGTERM itself", async () => {
    const folder = makeFolder();
    const child = startProgram(
      folder,
      `${sdk} profile(); process.on("SIGTERM", () => { console.log("mine"); process.exit(3); }); setInterval(() => {}, 1000); console.log("up");`,
    );
    await child.said("up");
    child.kill("SIGTERM");
    const { code, stdout } = await child.ended;
    expect([code, stdout.includes("mine")]).toEqual([3, true]);
    expect(names(folder)).toEqual(["cirron.session"]);
  });

  it("never keeps the process alive, not even with a server that does not answer", async () => {
    const folder = makeFolder();
    const started = Date.now();
    const { code } = await runProgram(folder, `${sdk} profile({ endpoint: "http://192.0.2.1:9" }); mark("x", 1);`);
    expect(code).toBe(0);
    // The connection itself would be tried for ten seconds.
    expect(Date.now() - started).toBeLessThan(9000);
    expect(names(folder)).toEqual(["cirron.session"]);
  });
});

describe("kill -9", () => {
  it("leaves whole batches only, with everything up to the last flush [CT-03]", async () => {
    const folder = makeFolder();
    const child = startProgram(
      folder,
      `${sdk} profile({ flushIntervalMs: 10 });
       for (const epoch of epochs(1e9)) for (const step of steps(20)) { mark("loss", 1 / (step + 1)); if (step === 0 && epoch % 100 === 0) console.log("e" + epoch); }`,
    );
    await child.said("e400");
    await sleep(50);
    child.kill("SIGKILL");
    expect((await child.ended).signal).toBe("SIGKILL");
    const spool = `${folder}/.cirron/spool`;
    const whole = readdirSync(spool).filter((name) => name.endsWith(".json"));
    expect(whole.length).toBeGreaterThan(3);
    const marks = whole.sort().flatMap((name) => readBatch(readFileSync(`${spool}/${name}`, "utf8")).marks);
    const last = readBatch(readFileSync(`${spool}/${whole.at(-1)}`, "utf8"));
    // A flush may fall between two epochs.
    expect(last.open.slice(0, 2)).toEqual(["cirron.session", "epoch"].slice(0, Math.max(1, last.open.length)));
    // Without a hole from the first mark to the last one that was written.
    expect(marks.map((row) => row.value)).toEqual(marks.map((_, i) => 1 / ((i % 20) + 1)));
  });
});

describe("a full disk", () => {
  it("costs batches, never the program, and is counted", async ({ skip }) => {
    const folder = makeFolder();
    const disk = `${folder}/disk`;
    mkdirSync(disk);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], { stdio: "ignore" });
    } catch {
      skip("mounting a small disk needs root");
    }
    try {
      const { code, stdout } = await runProgram(
        folder,
        `${sdk} profile({ path: ${JSON.stringify(disk)}, flushIntervalMs: 10 });
         for (let i = 0; i < 100_000; i++) mark("x", i);
         await shutdown();
         const { spool, marks } = health();
         console.log(JSON.stringify({ spool, marks }));`,
      );
      expect(code).toBe(0);
      const { spool, marks } = JSON.parse(stdout) as { spool: { waitingBytes: number; lost: number }; marks: number };
      expect(marks).toBe(100_001);
      expect(spool.waitingBytes + spool.lost).toBeGreaterThan(0);
      for (const name of readdirSync(`${disk}/spool`))
        if (name.endsWith(".json")) readBatch(readFileSync(`${disk}/spool/${name}`, "utf8"));
    } finally {
      execFileSync("umount", [disk]);
    }
  });
});

describe("inside a capturing parent (CIRRON_RUN_ID)", () => {
  it("writes every batch as a sentinel line, the session with its run id included", async () => {
    const folder = makeFolder();
    const { stdout } = await runProgram(
      folder,
      `${sdk.replace("shutdown }", "shutdown, snapshot }")}
       process.stdout.write("no newline");
       profile({ snapshots: "full" });
       scope("s", () => { mark("x", 1); snapshot({ w: Float32Array.of(1, 2) }); });
       await shutdown();`,
      { CIRRON_RUN_ID: "run-7", CIRRON_WORKSPACE_ID: "ws", CIRRON_API_KEY: "unused" },
    );
    const events = stdout
      .split("\n")
      .filter((line) => line.includes("__cirron_event__"))
      .map((line) => line.slice(line.indexOf('{"__cirron_event__"')));
    const parsed = events.map(
      (line) => JSON.parse(line) as { __cirron_event__: string; payload: Record<string, unknown> },
    );
    expect(parsed.map((event) => event.__cirron_event__)).toEqual(["trace_blob", "trace_batch"]);
    const trace = readSpool(`${folder}/.cirron`);
    const session = trace.spans.find((row) => row.name === "cirron.session");
    expect(session?.attrs).toMatchObject({ "cirron.run_id": "run-7", "cirron.workspace_id": "ws" });
    const text = events[1] as string;
    const payload = text.slice(text.indexOf('"payload":') + '"payload":'.length, -1);
    expect(readBatch(payload).spans.map((row) => row.name)).toEqual(["s", "cirron.session"]);
    expect(parsed[0]?.payload).toMatchObject({
      remote_key: `snapshots/${trace.snapshots[0]?.span_id}/weights.safetensors`,
    });
  });
});

it("flushes as often as the latest profile() asks", async () => {
  const folder = makeFolder();
  await startProgram(
    folder,
    `${sdk} profile({ flushIntervalMs: 60_000 });
     await shutdown();
     profile({ flushIntervalMs: 10 });
     mark("x", 1);
     setTimeout(() => process.kill(process.pid, "SIGKILL"), 500);`,
  ).ended;
  expect(readSpool(`${folder}/.cirron`).marks.map((row) => row.name)).toContain("x");
});
