import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { beforeEach, describe, expect, it } from "vitest";
import { runInTest } from "#cli/run-cli.testing.ts";
import { suiteApp, testApp } from "../support/app.ts";
import { makeFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { openRelay } from "../support/relay.ts";

const main = new URL("../../src/main.ts", import.meta.url).pathname;
const app = suiteApp();
let folder: string;
beforeEach(() => {
  folder = makeFolder();
});

// What a program needs to speak XTrack on descriptor 3, without any library.
const preamble = `
const { writeSync } = require("node:fs");
const send = (t, seq, p) => {
  const body = Buffer.from(JSON.stringify({ v: 1, t, m: { seq, ts: Date.now() * 1000 }, p: { run_id: "own-id", ...p } }));
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  writeSync(3, Buffer.concat([head, body]));
};
`;

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; out: string; err: string }>;
}

function startRun(server: string, program: string, flags: readonly string[] = []): Started {
  const file = join(folder, "program.cjs");
  writeFileSync(file, preamble + program);
  return startProgram(server, [process.execPath, file], flags);
}

function startProgram(
  server: string,
  command: readonly string[],
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Started {
  const args = [main, "run", "--server", server, "--data", join(folder, "data"), ...flags, "--", ...command];
  const options = { cwd: folder, env: { ...process.env, ...env } };
  const child = spawn(process.execPath, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout?.on("data", (chunk) => (out += chunk));
  child.stderr?.on("data", (chunk) => (err += chunk));
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    child.once("close", (code) => resolve({ code, out, err }));
  });
  return { child, ended };
}

async function readRun(id: string): Promise<Record<string, unknown>> {
  await app.get("/readyz?drained=1");
  return (await app.get(`/api/v1/runs/${id}`)).body as Record<string, unknown>;
}

async function readLogs(id: string): Promise<string[]> {
  const { body } = await app.get(`/api/v1/runs/${id}/logs?order=asc`);
  return (body as { logs: { stream: string; msg: string }[] }).logs.map(({ stream, msg }) => `${stream}: ${msg}`);
}

describe("tributary run", () => {
  it("records frames, output and exit code as one run, and passes the output through", async () => {
    const program = `
      console.log("starting");
      send("run_start", 1, { run_id: { id: "own-id", exp_id: null }, name: "inner" });
      for (let step = 1; step <= 3; step++) send("metric", 1 + step, { key: "loss", value: 1 / step, step });
      console.error("careful");
      process.stdout.write("no end of line");
    `;
    const { code, out, err } = await startRun(app.app.url, program, ["--run-id", "walk-1"]).ended;
    expect([code, out]).toEqual([0, "starting\nno end of line"]);
    expect(err).toContain("careful\n");
    // Asked at once: the wrapper ends when its run can be queried.
    const { body: run } = await app.get("/api/v1/runs/walk-1");
    expect(run).toMatchObject({ id: "walk-1", status: "completed", status_raw: "exit 0" });
    expect(run).toMatchObject({ integrity: { duplicates: 0 }, counts: { duplicates: 0, events: 3 } });
    expect(await readRun("own-id")).toMatchObject({ id: "walk-1" });
    expect((await readLogs("walk-1")).sort()).toEqual([
      "stderr: careful",
      "stdout: no end of line",
      "stdout: starting",
    ]);
    const { body } = await app.get("/api/v1/runs/walk-1/metrics/loss");
    expect((body as { series: { last: number[] }[] }).series[0]?.last).toEqual([1, 0.5, 1 / 3]);
  });

  it("takes in what a program with our SDK could not send before it exited, once", async () => {
    const sdk = new URL("../../src/emit/xtrack.ts", import.meta.url).href;
    writeFileSync(
      join(folder, "alone.mts"),
      `import { startRun } from ${JSON.stringify(sdk)};
       startRun({ id: "walk-alone" }).metric("loss", 0.5, { step: 1 });
       process.exit(0);`,
    );
    const env = { ...process.env, XTRACK_HOST: "127.0.0.1", XTRACK_PORT: "9" };
    const alone = spawn(process.execPath, ["alone.mts"], { cwd: folder, env, stdio: "ignore" });
    expect(await new Promise((done) => alone.once("close", done))).toBe(0);
    expect(readdirSync(join(folder, ".xtrack"))).toHaveLength(1);
    await startRun(app.app.url, "").ended;
    expect(await readRun("walk-alone")).toMatchObject({ status: "completed", counts: { events: 3 } });
    expect(readdirSync(join(folder, ".xtrack"))).toEqual([]);
  });

  it("says that a program was not found or may not be started, with a shell's code", async () => {
    writeFileSync(join(folder, "plain.txt"), "no program");
    const missing = await startProgram(app.app.url, ["no-such-program"]).ended;
    expect([missing.code, missing.err]).toEqual([
      127,
      expect.stringContaining("tributary: no-such-program was not found\n"),
    ]);
    const plain = await startProgram(app.app.url, ["./plain.txt"]).ended;
    expect([plain.code, plain.err]).toEqual([
      126,
      expect.stringContaining("tributary: ./plain.txt could not be started (EACCES)\n"),
    ]);
  });

  it("is the run that CIRRON_RUN_ID names", async () => {
    await startProgram(app.app.url, ["true"], [], { CIRRON_RUN_ID: "run-42" }).ended;
    expect(await readRun("run-42")).toMatchObject({ status: "completed" });
  });

  it("keeps what a server refuses for its key, and the next run with the right one takes it along", async () => {
    const guarded = await testApp();
    const made = await guarded.post("/api/v1/keys", JSON.stringify({ name: "k", scopes: ["ingest"] }));
    const { key } = made.body as { key: string };
    const flags = (runId: string, given: string) => ["--run-id", runId, "--key", given];
    const first = await startRun(guarded.app.url, "console.log('kept')", flags("walk-key", "wrong")).ended;
    expect([first.code, first.out]).toEqual([0, "kept\n"]);
    expect(first.err).toMatch(/\d+ requests wait in /);
    await startRun(guarded.app.url, "", flags("walk-key-2", key)).ended;
    expect((await guarded.get("/api/v1/runs/walk-key")).body).toMatchObject({ status: "completed" });
  });

  it("takes frames that are mixed into standard output, and Cirron's sentinels, out of it", async () => {
    const program = `
      const fd1 = (t, seq, p) => {
        const body = Buffer.from(JSON.stringify({ v: 1, t, m: { seq, ts: seq }, p }));
        const head = Buffer.alloc(4);
        head.writeUInt32BE(body.length);
        writeSync(1, Buffer.concat([head, body]));
      };
      writeSync(1, "before ");
      fd1("run_start", 1, { run_id: { id: "mixed" } });
      fd1("metric", 2, { run_id: "mixed", key: "acc", value: 0.75, step: 1 });
      const span = { id: "s1", parent_id: null, name: "request", index: null, start_ns: 10, end_ns: 20, cpu_ns: null,
        gpu_ns: null, memory_peak_bytes: null, attrs: {}, thread_id: 1, pid: 2, rank: 0, mark_ids: [] };
      const payload = { schema_version: 1, sdk_version: "1", batch_id: "0".repeat(32), created_ns: 1,
        spans: [span], marks: [], snapshots: [] };
      writeSync(1, "text " + JSON.stringify({ __cirron_event__: "trace_batch", schema_version: 1, payload }) + "\\nafter\\n");
    `;
    const { out } = await startRun(app.app.url, program, ["--run-id", "walk-2"]).ended;
    expect(out).toBe("before text after\n");
    expect(await readRun("walk-2")).toMatchObject({ counts: { points: 1, spans: 1 }, protocols: ["cirron", "xtrack"] });
  });

  it("makes a fault of a damaged frame, and knows the run of events without an id in every request [XT-09]", async () => {
    const program = `
      send("run_start", 1, { run_id: undefined });
      writeSync(3, Buffer.from('\\0\\0\\0\\x50{"v":1,"t":"metric","m":{"se'));
      const metric = (seq) => send("metric", seq, { run_id: undefined, key: "loss", value: 1 });
      metric(3);
      setTimeout(() => metric(4), 500);`;
    const { code } = await startRun(app.app.url, program, ["--run-id", "walk-damaged"]).ended;
    expect(code).toBe(0);
    await app.get("/readyz?drained=1");
    const { body: gaps } = await app.get("/api/v1/runs/walk-damaged/gaps");
    expect(gaps).toMatchObject({
      sequences: [{ received: 3, missing: 1, gaps: [{ from_seq: "2", to_seq: "2" }] }],
    });
    expect((gaps as { sequences: unknown[] }).sequences).toHaveLength(1);
    const { body: faults } = await app.get("/api/v1/runs/walk-damaged/faults");
    expect(faults).toMatchObject({ faults: [{ code: "xtrack_bytes_skipped", raw_bytes: 32 }] });
  });

  it("fails as the program does, with its code", async () => {
    const { code } = await startRun(app.app.url, "process.exit(7)", ["--run-id", "walk-3"]).ended;
    expect(code).toBe(7);
    expect(await readRun("walk-3")).toMatchObject({ status: "failed", status_raw: "exit 7" });
    const { out } = await runInTest(["show", "walk-3", "--server", app.app.url]);
    expect(out).toMatch(/^error +The program exited with code 7\.$/m);
  });

  it("says 127 when there is no such program", async () => {
    const child = spawn(process.execPath, [main, "run", "--server", app.app.url, "--quiet", "--", "/nonexistent"], {
      cwd: folder,
      stdio: "ignore",
    });
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(127);
  });

  it("passes Ctrl-C on once and waits for the program to end in its own way", async () => {
    const program = `
      let times = 0;
      process.on("SIGINT", () => { times++; console.log("got it"); setTimeout(() => process.exit(times), 300); });
      console.log("ready");
      setInterval(() => undefined, 1000);
    `;
    const { child, ended } = startRun(app.app.url, program, ["--run-id", "walk-4"]);
    await new Promise<void>((resolve) =>
      child.stdout?.on("data", (chunk) => String(chunk).includes("ready") && resolve()),
    );
    child.kill("SIGINT");
    const { code, out } = await ended;
    expect([code, out]).toEqual([1, "ready\ngot it\n"]);
  });

  it("calls a program killed that a signal ended", async () => {
    const { code } = await startRun(app.app.url, 'process.kill(process.pid, "SIGKILL")', ["--run-id", "walk-5"]).ended;
    expect(code).toBe(137);
    expect(await readRun("walk-5")).toMatchObject({ status: "killed", status_raw: "SIGKILL" });
  });

  it("calls a program failed that crashed, in the API and in SQL", async () => {
    const { code } = await startRun(app.app.url, 'process.kill(process.pid, "SIGSEGV")', ["--run-id", "walk-8"]).ended;
    expect(code).toBe(139);
    const said = { status: "failed", status_raw: "SIGSEGV", error: "The program crashed with SIGSEGV." };
    expect(await readRun("walk-8")).toMatchObject(said);
    const query = "SELECT status FROM runs WHERE run_id IN ('walk-5', 'walk-8') ORDER BY run_id";
    const { body } = await app.post("/api/v1/sql", JSON.stringify({ query }));
    expect((body as { rows: unknown[] }).rows).toEqual([["killed"], ["failed"]]);
  });

  it("samples what the machine does", async () => {
    const program = "const end = Date.now() + 2500; while (Date.now() < end) {} ";
    await startRun(app.app.url, program, ["--run-id", "walk-6", "--sample", "200ms"]).ended;
    await readRun("walk-6");
    const { metrics } = (await app.get("/api/v1/runs/walk-6/metrics")).body as {
      metrics: { key: string; max: number }[];
    };
    const of = (key: string) => metrics.find((metric) => metric.key === key)?.max ?? 0;
    // However busy the machine is, a program that only counts gets some of it.
    expect(of("system/cpu_percent")).toBeGreaterThan(1);
    expect(of("system/memory_bytes")).toBeGreaterThan(1e6);
    expect(of("system/host_memory_percent")).toBeGreaterThan(0);
  });

  it("keeps everything on disk while no server answers, and the next run takes it in", async () => {
    const program = 'console.log("kept"); send("run_start", 1, { run_id: { id: "late-own" } });';
    const { code, err } = await startRun("http://127.0.0.1:1", program, ["--run-id", "walk-7"]).ended;
    expect(code).toBe(0);
    expect(err).toContain("wait in");
    await startRun(app.app.url, "", ["--run-id", "walk-8"]).ended;
    expect(await readRun("walk-7")).toMatchObject({ status: "completed" });
    expect(await readLogs("walk-7")).toEqual(["stdout: kept"]);
  });

  it("keeps a tensor that the program announces while no server answers, as it keeps the batch that names it", async () => {
    const program = `
      const print = (kind, payload) =>
        console.log(JSON.stringify({ __cirron_event__: kind, schema_version: 1, sdk_version: "1", payload }));
      require("node:fs").writeFileSync("tensor", "bytes of a tensor");
      print("trace_blob", { remote_key: "snapshots/span-9/weights.safetensors", local_path: "tensor" });
      const ids = { id: "span-9", parent_id: null, name: "epoch", start_ns: 10, end_ns: 20, pid: 2 };
      const tensor = { id: "snap-9", span_id: "span-9", tensor_name: "w", shape: [1], dtype: "float32", mode: "full",
        stats: {}, blob_uri: "file:///tensor", ts_ns: 15, attrs: {} };
      print("trace_batch", { schema_version: 1, sdk_version: "1", batch_id: "9".repeat(32), created_ns: 1,
        spans: [ids], marks: [], snapshots: [tensor] });`;
    await startRun("http://127.0.0.1:1", program, ["--run-id", "walk-tensor"]).ended;
    await startRun(app.app.url, "").ended;
    expect(await readRun("walk-tensor")).toMatchObject({ counts: { spans: 1, snapshots: 1 } });
    const blob = await fetch(`${app.app.url}/v1/traces/blobs/snapshots/span-9/weights.safetensors`);
    expect([blob.status, await blob.text()]).toEqual([200, "bytes of a tensor"]);
  });

  it("lets the program go on where nothing can be kept, and says what is lost", async () => {
    // A file is in the way of the folder: root may write everywhere else.
    writeFileSync(join(folder, "data"), "");
    const program = 'console.log("one"); setTimeout(() => { console.log("two"); process.exit(4); }, 1500);';
    const ended = startRun("http://127.0.0.1:1", program, ["--run-id", "walk-10"]).ended;
    const { code, out, err } = await ended;
    expect([code, out]).toEqual([4, "one\ntwo\n"]);
    expect(err).toMatch(/data cannot be written to \(a file is in the way of a folder\)/);
    expect(err).toMatch(/\d+ requests are lost/);
    expect(err).not.toContain("    at ");
  });

  it("holds what the disk does not take until the server is there", async () => {
    const port = await freePort();
    writeFileSync(join(folder, "data"), "");
    const program = 'console.log("held"); process.stdin.once("data", () => process.exit(0));';
    const { child, ended } = startRun(`http://127.0.0.1:${port}`, program, ["--run-id", "walk-11"]);
    await new Promise<void>((resolve) =>
      child.stderr?.on("data", (chunk) => String(chunk).includes("held in memory") && resolve()),
    );
    const relay = await openRelay(() => connect(Number(new URL(app.app.url).port), "127.0.0.1"), port);
    child.stdin?.write("\n");
    expect((await ended).code).toBe(0);
    relay.close();
    expect(await readRun("walk-11")).toMatchObject({ status: "completed" });
    expect(await readLogs("walk-11")).toEqual(["stdout: held"]);
  });

  it("runs the program also where no temporary folder can be made", async () => {
    const env = { TMPDIR: join(folder, "none") };
    const { ended } = startProgram(app.app.url, [process.execPath, "-e", "console.log('ran')"], [], env);
    expect(await ended).toMatchObject({ code: 0, out: "ran\n" });
  });

  it("goes on recording when nobody reads its output any more", async () => {
    const program = `
      let line = 0;
      const timer = setInterval(() => {
        console.log("line " + ++line);
        console.error("careful " + line);
        if (line === 20) clearInterval(timer);
      }, 50);
      process.exitCode = 3;
    `;
    const { child, ended } = startRun(app.app.url, program, ["--run-id", "walk-unread"]);
    for (const output of [child.stdout, child.stderr]) output?.once("data", () => output.destroy());
    expect((await ended).code).toBe(3);
    expect(await readRun("walk-unread")).toMatchObject({ status: "failed", status_raw: "exit 3" });
    expect(await readLogs("walk-unread")).toEqual(expect.arrayContaining(["stdout: line 20", "stderr: careful 20"]));
  });

  it("reads its standard input no faster than the program does", async () => {
    const program = `
      console.log("ready");
      setTimeout(() => process.stdin.once("data", () => process.exit(0)), 2000);
    `;
    const { child, ended } = startRun(app.app.url, program, ["--run-id", "walk-stdin", "--sample", "off"]);
    const { stdin } = child as { readonly stdin: Writable };
    stdin.on("error", () => undefined);
    let taken = 0;
    const feed = (): void => {
      while (!stdin.destroyed && stdin.writableLength === 0 && stdin.write(Buffer.alloc(65_536, "x"))) taken += 65_536;
    };
    stdin.on("drain", feed);
    feed();
    expect((await ended).code).toBe(0);
    expect(taken).toBeLessThan(8 * 1024 * 1024);
  });

  it("gives commands to the program's standard input, which may confirm them", async () => {
    const program = `
      send("run_start", 1, { run_id: { id: "steered" }, accepts: ["command"] });
      process.stdin.on("data", (chunk) => {
        const { p } = JSON.parse(chunk.subarray(4).toString());
        console.log("told to " + p.type);
        send("ack", 2, { run_id: "steered", cmd_id: p.cmd_id, status: "ok", seq: 1 });
        setTimeout(() => process.exit(0), 500);
      });
    `;
    const { ended } = startRun(app.app.url, program, ["--run-id", "walk-9"]);
    const accepting = async () => {
      const { body } = await app.get("/api/v1/runs/walk-9/commands");
      return (body as { accepting?: string[] }).accepting?.length ?? 0;
    };
    await expect.poll(accepting, { timeout: 15_000, interval: 200 }).toBe(1);
    await app.post("/api/v1/runs/walk-9/commands", JSON.stringify({ type: "pause" }));
    const { out } = await ended;
    expect(out).toBe("told to pause\n");
  });
});
