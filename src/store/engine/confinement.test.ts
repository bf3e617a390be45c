import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { existsSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { createStore } from "#store/client.ts";
import { askStore } from "../../../tests/support/ask-store.ts";
import { makeDataDir } from "../../../tests/support/store-under-test.ts";
import { type Confinement, engineEnvironment, findConfinement, mayBeOfFence, weakerThan } from "./confinement.ts";
import { EngineSupervisor } from "./supervisor.ts";

/** What this machine offers, and all that is weaker: a machine that offers nothing tests that the engine runs there. */
const offered: Confinement[] = [await findConfinement()];
while (offered.at(-1) !== "none") offered.push(weakerThan(offered.at(-1) as Confinement));

async function start(confinement?: Confinement, path = process.env["PATH"]): Promise<EngineSupervisor> {
  const dataDir = makeDataDir();
  vi.stubEnv("PATH", path);
  vi.stubEnv("TRIBUTARY_ADMIN_KEY", "a-secret-of-the-server");
  const supervisor = await EngineSupervisor.start({
    ...{ dataDir, socketPath: join(dataDir, "engine.sock"), folderWaitMs: 0 },
    ...(confinement === undefined ? {} : { confinement }),
    ...{ memoryBytesMax: 1e9, guest: { timeoutMs: 1000, memoryBytesMax: 1e8, rowsMax: 10 } },
  });
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await supervisor.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return supervisor;
}

it.each(offered)("the engine gets what it is promised: %s", async (confinement) => {
  const supervisor = await start(confinement);
  expect(supervisor.confinement).toBe(confinement);
  if (confinement === "none") return;
  const status = readFileSync(`/proc/${supervisor.pid}/status`, "utf8");
  expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  // At most the right to open files of others, which root keeps.
  expect(status).toMatch(/^CapEff:\t000000000000000[02]$/m);
  const networkOf = (pid: number | string | undefined) => readlinkSync(`/proc/${pid}/ns/net`);
  expect(networkOf(supervisor.pid) !== networkOf("self")).toBe(confinement.endsWith("network"));
});

it.each(offered)("which files the engine reaches for its owner goes by its confinement: %s", async (confinement) => {
  const dataDir = makeDataDir();
  const elsewhere = makeDataDir();
  writeFileSync(join(elsewhere, "canary"), "seen\n");
  writeFileSync(join(dataDir, "owner-secret"), "seen\n");
  const store = await createStore({ kind: "embedded", dataDir, confinement });
  onTestFinished(async () => {
    await store.close();
    for (const folder of [dataDir, elsewhere]) rmSync(folder, { recursive: true, force: true });
  });
  const outcome = (sql: string): Promise<string> => askStore(store, { sql }).then(String, () => "refused");
  const read = (path: string): Promise<string> => outcome(`SELECT * FROM file('${path}', LineAsString)`);
  const write = (path: string): Promise<string> => outcome(`SELECT 1 INTO OUTFILE '${path}' FORMAT TSV`);
  const seen = await Promise.all([read(join(elsewhere, "canary")), read(join(dataDir, "owner-secret"))]);
  await Promise.all([write(join(elsewhere, "written")), write(join(dataDir, "written"))]);
  const written = [elsewhere, dataDir].map((folder) => existsSync(join(folder, "written")));
  const isFenced = confinement.startsWith("files");
  expect(seen.map((answer) => answer === "refused")).toEqual([isFenced, isFenced]);
  expect(written).toEqual([!isFenced, !isFenced]);
  // What it needs for its work is within the fence.
  await store.ddl("CREATE TABLE own (x UInt8) ENGINE = MergeTree ORDER BY x");
  expect(await askStore(store, { sql: "SELECT count() AS rows FROM own" })).toEqual([{ rows: "0" }]);
});

it("runs without what the machine does not offer", async () => {
  const { confinement, pid } = await start("files and network", "/nonexistent");
  expect([confinement, typeof pid]).toEqual(["none", "number"]);
});

it("does not try again what the machine has refused an earlier engine", async () => {
  const first = await start();
  expect(first.confinement).toBe(offered[0]);
  let tries = 0;
  const count = (): void => void tries++;
  subscribe("child_process", count);
  onTestFinished(() => void unsubscribe("child_process", count));
  const { confinement } = await start();
  expect([confinement, tries]).toEqual([offered[0], 1]);
});

it.each([
  [true, "Code: 76. DB::ErrnoException: Cannot open file /x: , errno: 13, strerror: Permission denied.", null],
  [true, "filesystem error: in create_directories: Operation not permitted", null],
  [true, "Error: EACCES: permission denied, open '/x'", null],
  [true, "it ended with SIGSEGV", "SIGSEGV"],
  [false, "Code: 76. DB::Exception: Cannot lock file /x. Another server instance is already running.", null],
  [false, "Code: 75. DB::ErrnoException: Cannot write to file, errno: 28, strerror: No space left on device.", null],
  [false, "it ended with SIGKILL", "SIGKILL"],
  [false, "it ended with SIGABRT FATAL ERROR: JavaScript heap out of memory", "SIGABRT"],
  [false, "it said nothing for 60 s", null],
] as const)("a failure may come of the fence of files: %s, %s", (expected, words, crash) => {
  expect(mayBeOfFence(words, crash)).toBe(expected);
});

it("is not told the server's secrets", async () => {
  const { pid } = await start("none");
  expect(process.env["TRIBUTARY_ADMIN_KEY"]).toBe("a-secret-of-the-server");
  const environ = readFileSync(`/proc/${pid}/environ`, "utf8");
  expect(environ).toContain("UV_THREADPOOL_SIZE=16");
  expect(environ).not.toContain("a-secret-of-the-server");
  expect(engineEnvironment({ AWS_SECRET_ACCESS_KEY: "x", LC_ALL: "C" })).toEqual({
    LC_ALL: "C",
    UV_THREADPOOL_SIZE: "16",
    OPENSSL_CONF: "/dev/null",
  });
});

it.runIf(offered[0]?.endsWith("network"))("reaches nobody, not even for its owner", async () => {
  const heard: string[] = [];
  const canary = createServer((_request, response) => response.end("heard\n"));
  canary.on("connection", () => heard.push("a connection"));
  canary.listen(0, "127.0.0.1");
  await once(canary, "listening");
  const dataDir = makeDataDir();
  const store = await createStore({ kind: "embedded", dataDir });
  try {
    const { port } = canary.address() as AddressInfo;
    const sql = `SELECT * FROM url('http://127.0.0.1:${port}/x', LineAsString) SETTINGS http_max_tries = 1`;
    await expect(askStore(store, { sql })).rejects.toThrow();
    expect(heard).toEqual([]);
    expect(await askStore(store, { sql: "SELECT 1 AS one" })).toEqual([{ one: 1 }]);
  } finally {
    canary.close();
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
