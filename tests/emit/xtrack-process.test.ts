// Whole programs with an XTrack run: where frames go by environment, and how runs end with their process.

import { spawn } from "node:child_process";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import type { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../support/folder.ts";
import { startCollector, startWebCollector } from "./collector.ts";
import { FrameReader, type ReadEvent, readFrames } from "./read-frames.ts";
import { moduleUrl, runProgram, startProgram } from "./sandbox.ts";

const sdk = `import { startRun, withRun } from ${JSON.stringify(moduleUrl("src/emit/xtrack.ts"))};`;
const program = `${sdk} const run = startRun({ id: "r" }); run.metric("loss", 0.5, { step: 1 }); await run.end();`;
const types = (events: ReadEvent[]) => events.map((event) => event.t);
const whole = ["run_start", "status", "metric", "run_end"];

describe("the environment chooses the transport [XT-26]", () => {
  it("tcp, with worker, experiment and key", async () => {
    const collector = await startCollector();
    await runProgram(makeFolder(), program, {
      XTRACK_TRANSPORT: "tcp",
      XTRACK_HOST: "127.0.0.1",
      XTRACK_PORT: String(collector.port),
      XTRACK_WORKER_ID: "worker-3",
      XTRACK_EXPERIMENT: "exp",
      XTRACK_API_KEY: "secret",
    });
    expect(types(collector.events)).toEqual(["auth", ...whole]);
    expect(collector.events[0]?.p).toEqual({ key: "secret" });
    expect(collector.events[1]?.p.run_id).toEqual({ id: "r", exp_id: "exp" });
    expect(collector.events.slice(1).every((event) => event.m.wid === "worker-3")).toBe(true);
  });

  it("unix", async () => {
    const path = `${makeFolder()}/x.sock`;
    const collector = await startCollector({ at: path });
    await runProgram(makeFolder(), program, { XTRACK_SOCKET: path });
    expect(types(collector.events)).toEqual(whole);
  });

  it("ws, with the key in the header too", async () => {
    const { url, hub, headers } = await startWebCollector();
    await runProgram(makeFolder(), program, { XTRACK_URL: url, XTRACK_API_KEY: "k" });
    expect(types(hub.events)).toEqual(["auth", ...whole]);
    expect(headers).toEqual(["Bearer k"]);
  });

  it("file, which is appended to", async () => {
    const folder = makeFolder();
    for (let i = 0; i < 2; i++) await runProgram(folder, program, { XTRACK_TRANSPORT: "file" });
    expect(types(readFrames(readFileSync(`${folder}/xtrack_events.bin`)))).toEqual([...whole, ...whole]);
  });

  it("null, and a collector that is not there: the program does not notice", async () => {
    const none = await runProgram(makeFolder(), program, { XTRACK_TRANSPORT: "null" });
    expect(none.code).toBe(0);
    const started = Date.now();
    const gone = await runProgram(
      makeFolder(),
      `${sdk} const run = startRun(); for (let i = 0; i < 1e5; i++) run.metric("x", i); console.log(JSON.stringify(run.health));`,
      { XTRACK_HOST: "127.0.0.1", XTRACK_PORT: "9" },
    );
    expect(gone.code).toBe(0);
    expect(Date.now() - started).toBeLessThan(20_000);
    const health = JSON.parse(gone.stdout) as { waitingBytes: number; dropped: number };
    expect(health.waitingBytes).toBeLessThanOrEqual(8 * 1024 * 1024);
    expect(health.dropped).toBeGreaterThan(0);
  });
});

describe("stdio", () => {
  function runWith(stdio: ("ignore" | "pipe" | number)[], source = program, env: Record<string, string> = {}) {
    const folder = makeFolder();
    writeFileSync(`${folder}/program.mts`, source);
    const child = spawn(process.execPath, [`${folder}/program.mts`], {
      cwd: folder,
      stdio,
      env: { PATH: process.env["PATH"] ?? "", XTRACK_TRANSPORT: "stdio", ...env },
    });
    const chunks: Buffer[][] = [[], [], [], []];
    for (const [fd, stream] of child.stdio.entries()) {
      if (fd > 0) stream?.on("data", (chunk: Buffer) => (chunks[fd] as Buffer[]).push(chunk));
    }
    const ended = new Promise<{ code: number | null; out: Buffer; fd3: Buffer }>((done) => {
      child.on("close", (code) =>
        done({ code, out: Buffer.concat(chunks[1] as Buffer[]), fd3: Buffer.concat(chunks[3] as Buffer[]) }),
      );
    });
    return { child, ended, chunks };
  }

  it("writes to descriptor 3 when the parent opened one, and leaves stdout alone", async () => {
    const { ended } = runWith(["ignore", "pipe", "inherit" as never, "pipe"], `console.log("hello"); ${program}`);
    const { code, out, fd3 } = await ended;
    expect(code).toBe(0);
    expect(out.toString()).toBe("hello\n");
    expect(types(readFrames(fd3))).toEqual(whole);
  });

  it("writes to stdout without one, and never into Node's own descriptors", async () => {
    const { code, out } = await runWith(["ignore", "pipe", "inherit" as never]).ended;
    expect(code).toBe(0);
    expect(types(readFrames(out))).toEqual(whole);
  });

  it("never writes into a file of the user that happens to be descriptor 3", async () => {
    const file = `${makeFolder()}/mine.txt`;
    const fd = openSync(file, "w");
    const { out } = await runWith(["ignore", "pipe", "inherit" as never, fd]).ended;
    expect(readFileSync(file, "utf8")).toBe("");
    expect(types(readFrames(out))).toEqual(whole);
  });

  it.each([
    ["stdin", 0],
    ["the socket at descriptor 3, when stdin has ended", 3],
  ])("hears commands on %s when the parent says so [XT-18]", async (_, channel) => {
    const steered = `${sdk}
      const run = startRun({ id: "r" });
      const stopped = new Promise((done) => run.on("stop", ({ payload }) => { run.log("info", "stopping " + payload.why); done(); }));
      const hold = setInterval(() => {}, 1000);
      await stopped; clearInterval(hold); await run.end({ status: "killed" });`;
    const { child, ended, chunks } = runWith(["pipe", "pipe", "inherit" as never, "pipe"], steered, {
      XTRACK_COMMANDS: "stdin",
    });
    const reader = new FrameReader();
    await new Promise<void>((done) => {
      child.stdio[3]?.on("data", (chunk: Buffer) => {
        if (reader.push(chunk).some((event) => event.t === "status")) done();
      });
    });
    expect(reader.events[0]?.p.accepts).toEqual(["command"]);
    const json = Buffer.from(
      '{"v":1,"t":"command","m":{"seq":1,"ts":1},"p":{"cmd_id":"c9","type":"stop","payload":{"why":"test"}}}',
    );
    const length = Buffer.alloc(4);
    length.writeUInt32BE(json.length);
    if (channel === 3) child.stdin?.end();
    (child.stdio[channel] as Writable).write(Buffer.concat([length, json]));
    expect((await ended).code).toBe(0);
    const events = readFrames(Buffer.concat(chunks[3] as Buffer[]));
    expect(events.find((event) => event.t === "ack")?.p).toMatchObject({ cmd_id: "c9", status: "ok" });
    expect(events.find((event) => event.t === "log")?.p.msg).toBe("stopping test");
  });
});

describe("the end of a process", () => {
  const file = { XTRACK_TRANSPORT: "file" };
  const endOf = (folder: string) => readFrames(readFileSync(`${folder}/xtrack_events.bin`)).at(-1);

  it("is the end of its runs, completed or failed by the exit code", async () => {
    const folder = makeFolder();
    await runProgram(folder, `${sdk} startRun(); process.exit(0);`, file);
    expect(endOf(folder)?.p).toMatchObject({ status: "completed" });
    const other = makeFolder();
    await runProgram(other, `${sdk} startRun(); process.exit(3);`, file);
    expect(endOf(other)?.p).toMatchObject({ status: "failed", error: { message: "the process ended with code 3" } });
  });

  it("by an uncaught error is a failed run, over a file and over a socket [XT-10]", async () => {
    const source = `${sdk} const run = startRun({ id: "r" }); run.metric("x", 1);
      setTimeout(() => { run.metric("y", 2); throw new RangeError("mine"); }, 50);`;
    const folder = makeFolder();
    const result = await startProgram(folder, source, file).ended;
    expect([result.code, result.stderr.includes("RangeError: mine")]).toEqual([1, true]);
    expect(endOf(folder)?.p).toMatchObject({ status: "failed", error: { type: "RangeError", message: "mine" } });
    const collector = await startCollector();
    await startProgram(makeFolder(), source, { XTRACK_HOST: "127.0.0.1", XTRACK_PORT: String(collector.port) }).ended;
    await collector.until(() => collector.events.some((event) => event.t === "run_end"));
    expect(collector.events.at(-1)?.p).toMatchObject({ status: "failed", error: { type: "RangeError" } });
  });

  it("by an error out of a `using` block is a failed run too", async () => {
    const folder = makeFolder();
    await startProgram(folder, `${sdk} { using run = startRun(); run.metric("x", 1); throw new Error("out"); }`, file)
      .ended;
    expect(endOf(folder)?.p).toMatchObject({ status: "failed", error: { message: "out" } });
    const fine = makeFolder();
    await runProgram(fine, `${sdk} { using run = startRun(); run.metric("x", 1); }`, file);
    expect(endOf(fine)?.p).toMatchObject({ status: "completed" });
  });

  it("does not end a run when the program catches everything itself", async () => {
    const folder = makeFolder();
    await runProgram(
      folder,
      `${sdk} process.on("uncaughtException", () => {}); const run = startRun();
       setTimeout(() => { throw new Error("caught"); }, 5); setTimeout(async () => { run.metric("later", 1); await run.end(); }, 50);`,
      file,
    );
    const events = readFrames(readFileSync(`${folder}/xtrack_events.bin`));
    expect(types(events)).toEqual(["run_start", "status", "metric", "run_end"]);
    expect(events.at(-1)?.p.status).toBe("completed");
  });

  it("by SIGTERM is a killed run, and the process still dies of the signal", async () => {
    const collector = await startCollector();
    const child = startProgram(
      makeFolder(),
      `${sdk} startRun({ id: "r" }); setInterval(() => {}, 1000); setTimeout(() => console.log("up"), 50);`,
      { XTRACK_HOST: "127.0.0.1", XTRACK_PORT: String(collector.port) },
    );
    await child.said("up");
    await collector.until(() => collector.events.length === 2);
    child.kill("SIGTERM");
    expect((await child.ended).signal).toBe("SIGTERM");
    expect(collector.events.at(-1)?.p).toMatchObject({ status: "killed", error: { message: "SIGTERM" } });
  });

  it("by kill -9 leaves a file of whole frames, without gaps, up to what was still gathered", async () => {
    const folder = makeFolder();
    const child = startProgram(
      folder,
      `${sdk} const run = startRun(); for (let i = 0; ; i++) { run.metric("x", i, { step: i }); if (i === 20_000) console.log("far"); }`,
      file,
    );
    await child.said("far");
    child.kill("SIGKILL");
    await child.ended;
    const reader = new FrameReader();
    reader.push(readFileSync(`${folder}/xtrack_events.bin`));
    expect(reader.events.length).toBeGreaterThan(5_000);
    expect(reader.events.map((event) => event.m.seq)).toEqual(reader.events.map((_, i) => i + 1));
  });
});
