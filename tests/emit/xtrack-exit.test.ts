// What becomes of a run's events when its process ends before they have arrived.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { startRun } from "../../src/emit/xtrack.ts";
import { makeFolder } from "../support/folder.ts";
import { startCollector, startWebCollector } from "./collector.ts";
import { type ReadEvent, readFrames } from "./read-frames.ts";
import { moduleUrl, startProgram } from "./sandbox.ts";

const sdk = `import { startRun } from ${JSON.stringify(moduleUrl("src/emit/xtrack.ts"))};`;
const quick = "{ id: 'r', source: false, env: false }";
const metrics = (count: number) =>
  `${sdk} const run = startRun(${quick}); for (let i = 0; i < ${count}; i++) run.metric("loss", i, { step: i });`;
const to = (port: number) => ({ XTRACK_HOST: "127.0.0.1", XTRACK_PORT: String(port) });

const distinct = (events: readonly ReadEvent[]) => new Set(events.map((event) => event.m.seq)).size;

function readSpool(folder: string): ReadEvent[] {
  const spool = `${folder}/.xtrack`;
  if (!existsSync(spool)) return [];
  return readdirSync(spool).flatMap((name) => readFrames(readFileSync(`${spool}/${name}`)));
}

/** Accepts and never reads: what the system holds for it is a few megabytes, less than what is sent to it here. */
async function startDeaf(): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

describe("a process that exits in the turn of startRun()", () => {
  it.each([10, 5_000])("has all of its %i metrics and its end arrive", async (count) => {
    const collector = await startCollector();
    const folder = makeFolder();
    const ended = await startProgram(folder, `${metrics(count)} process.exit(3);`, to(collector.port)).ended;
    expect([ended.code, ended.stderr]).toEqual([3, ""]);
    expect(distinct(collector.events)).toBe(count + 3);
    const end = collector.events.find((event) => event.t === "run_end");
    expect(end?.p).toMatchObject({ status: "failed", error: { message: "the process ended with code 3" } });
    expect(readSpool(folder)).toEqual([]);
  });

  it("arrives over a WebSocket with its key too", async () => {
    const { url, hub, headers } = await startWebCollector();
    const env = { XTRACK_URL: url, XTRACK_API_KEY: "k" };
    await startProgram(makeFolder(), `${metrics(10)} process.exit(0);`, env).ended;
    expect(distinct(hub.events.filter((event) => event.t !== "auth"))).toBe(13);
    expect(headers.at(-1)).toBe("Bearer k");
  });

  it("with two runs loses neither", async () => {
    const collector = await startCollector();
    const source = `${sdk} for (const id of ["a", "b"]) startRun({ id, source: false, env: false }).metric("x", 1); process.exit(0);`;
    await startProgram(makeFolder(), source, to(collector.port)).ended;
    const ends = collector.events.filter((event) => event.t === "run_end").map((event) => event.p.run_id);
    expect([...new Set(ends)].sort()).toEqual(["a", "b"]);
  });

  it("keeps everything in a spool when no collector is there, and says where", async () => {
    const folder = makeFolder();
    const ended = await startProgram(folder, `${metrics(10)} process.exit(0);`, to(9)).ended;
    expect(ended.code).toBe(0);
    expect(ended.stderr).toMatch(
      /^tributary: 13 events of run r did not reach 127\.0\.0\.1:9\. They are in \.xtrack\/\S+; take them in with: tributary import \.xtrack\n$/,
    );
    expect(readSpool(folder).map((event) => event.m.seq)).toEqual(Array.from({ length: 13 }, (_, at) => at + 1));
  });

  it("counts and says what is lost when there is no place for a spool", async () => {
    const folder = makeFolder();
    writeFileSync(`${folder}/.xtrack`, "a file");
    const ended = await startProgram(folder, `${metrics(10)} process.exit(0);`, to(9)).ended;
    expect(ended.stderr).toContain("13 events of run r did not reach 127.0.0.1:9 and are lost (EEXIST)");
  });

  it("keeps what fits on a full disk, whole events only, and counts the others", async ({ skip }) => {
    const folder = makeFolder();
    const disk = `${folder}/.xtrack`;
    mkdirSync(disk);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], { stdio: "ignore" });
    } catch {
      skip("mounting a small disk needs root");
    }
    try {
      const ended = await startProgram(folder, `${metrics(3000)} process.exit(0);`, to(9)).ended;
      const kept = readSpool(folder).map((event) => event.m.seq);
      expect(kept.length).toBeGreaterThan(100);
      expect(kept).toEqual(kept.map((_, at) => at + 1));
      expect(readdirSync(disk).filter((name) => !name.endsWith(".xtrack.bin"))).toEqual([]);
      expect(ended.stderr).toContain(`The first ${kept.length} are in .xtrack/`);
      expect(ended.stderr).toContain(`The other ${3003 - kept.length} are lost (ENOSPC)`);
    } finally {
      execFileSync("umount", [disk]);
    }
  });
});

describe("a process that falls off its end", () => {
  it("with more unsent than a socket takes loses neither tail nor end", async () => {
    const collector = await startCollector();
    const folder = makeFolder();
    const ended = await startProgram(folder, metrics(60_000), to(collector.port)).ended;
    expect([ended.code, ended.stderr]).toEqual([0, ""]);
    expect(distinct(collector.events)).toBe(60_003);
    expect(collector.events.find((event) => event.t === "run_end")?.p.status).toBe("completed");
    expect(readSpool(folder)).toEqual([]);
  });

  it("is not kept alive by a collector that stopped reading, and keeps what that did not take", async () => {
    const folder = makeFolder();
    const port = await startDeaf();
    const ended = await startProgram(folder, metrics(60_000), to(port)).ended;
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain("60003 events of run r did not reach");
    expect(distinct(readSpool(folder))).toBe(60_003);
  });

  it("goes on when it is not at its end, however long the collector does not read", async () => {
    const port = await startDeaf();
    const source = `${metrics(60_000)} setTimeout(() => { run.metric("late", 1); console.log(run.health.late); }, 8000);`;
    const ended = await startProgram(makeFolder(), source, to(port)).ended;
    expect(ended.stdout).toBe("0\n");
  });
});

describe("end()", () => {
  it("takes no longer than its limit when the collector stopped reading, and the rest is in the spool", async () => {
    const folder = makeFolder();
    const port = await startDeaf();
    const source = `${metrics(60_000)} await run.end({ timeoutMs: 500 }); console.log(JSON.stringify(run.health));`;
    const ended = await startProgram(folder, source, to(port)).ended;
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ spooled: 60_003, lost: 0, waitingEvents: 0 });
    expect(distinct(readSpool(folder))).toBe(60_003);
  });

  it("of a run that goes nowhere waits for nothing", async () => {
    const run = startRun({ transport: "null", source: false, env: false });
    run.metric("x", 1);
    const order: string[] = [];
    const turns = (async () => {
      for (let turn = 0; turn < 3; turn++) await new Promise((done) => setTimeout(done, 50));
      order.push("150 ms");
    })();
    await run.end().then(() => order.push("end"));
    await turns;
    expect(order).toEqual(["end", "150 ms"]);
  });
});

describe("a mistake in the settings is said once and counted", () => {
  const health = `${sdk} const run = startRun(${quick}); startRun(${quick}); await run.end({ timeoutMs: 200 }); console.log(JSON.stringify(run.health.problems)); process.exit();`;
  const problemsOf = async (env: Record<string, string>) => {
    // A name that is nobody's, so that no collector of this machine is ever spoken to.
    const nowhere = { XTRACK_SPOOL: "off", XTRACK_HOST: "nowhere.invalid" };
    const ended = await startProgram(makeFolder(), health, { ...nowhere, ...env }).ended;
    const said = ended.stderr.split("\n").filter((line) => !line.includes("did not reach") && line !== "");
    expect(said.map((line) => line.replace("tributary: ", ""))).toEqual(JSON.parse(ended.stdout));
    return said;
  };

  it("a transport that does not exist", async () => {
    expect(await problemsOf({ XTRACK_TRANSPORT: "tpc" })).toEqual([
      'tributary: XTRACK_TRANSPORT is "tpc", which is none of tcp, unix, stdio, file, ws, null',
    ]);
  });

  it("a port that is none", async () => {
    expect(await problemsOf({ XTRACK_PORT: "99999" })).toEqual([
      'tributary: XTRACK_PORT is "99999", which is no port; 9999 is used',
    ]);
    const transport = { kind: "tcp", host: "nowhere.invalid", port: -1 } as const;
    const run = startRun({ transport, spool: false });
    await run.end({ timeoutMs: 1 });
    expect(run.health.problems).toEqual(["XTRACK_PORT is -1, which is no port; 9999 is used"]);
  });

  it("a file that cannot be written", async () => {
    const folder = makeFolder();
    mkdirSync(`${folder}/taken`);
    expect(await problemsOf({ XTRACK_FILE: `${folder}/taken` })).toEqual([
      `tributary: cannot write ${folder}/taken (EISDIR)`,
    ]);
  });

  it("an address that is none", async () => {
    expect(await problemsOf({ XTRACK_URL: "not a url" })).toEqual([
      "tributary: not a url is not the address of a WebSocket",
    ]);
  });
});

describe("a run whose end waits for the checksum of a file", () => {
  const hashing = `${sdk} import { truncateSync, writeFileSync } from "node:fs";
    writeFileSync("large", "");
    truncateSync("large", 2_000_000_000);
    const run = startRun(${quick});
    void run.artifact("large");
    void run.end({ status: "killed" });`;

  it("still ends when the process exits", async () => {
    const collector = await startCollector();
    await startProgram(makeFolder(), `${hashing} setTimeout(() => process.exit(0), 20);`, to(collector.port)).ended;
    expect(collector.events.find((event) => event.t === "run_end")?.p).toMatchObject({ status: "killed" });
  });

  it("keeps its events in the spool when a signal ends the process and no collector is there", async () => {
    const folder = makeFolder();
    const program = `${hashing} setTimeout(() => process.kill(process.pid, "SIGTERM"), 20);`;
    expect((await startProgram(folder, program, to(9)).ended).signal).toBe("SIGTERM");
    expect(readSpool(folder).map((event) => event.t)).toContain("run_end");
  });
});
