import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createStore } from "#store/client.ts";
import { startEmbedded } from "#store/embedded.ts";
import { encodeObjects } from "#store/native/encode-objects.ts";
import { isRetryable, StoreOutage } from "#store/outage.ts";
import type { Store } from "#store/store.ts";
import { askStore } from "../../../tests/support/ask-store.ts";
import { makeDataDir } from "../../../tests/support/store-under-test.ts";
import { findConfinement } from "./confinement.ts";
import { EngineSupervisor, type SupervisorOptions } from "./supervisor.ts";

let dataDir: string;
let store: Store;
let crashes: string[];
/** Servers started by a test, to be ended whatever it did. */
const others: ChildProcess[] = [];

beforeEach(async () => {
  dataDir = makeDataDir();
  crashes = [];
  store = await createStore({ kind: "embedded", dataDir, onCrash: (reason) => crashes.push(reason) });
});

afterEach(async () => {
  for (const child of others.splice(0)) child.kill("SIGKILL");
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Linux: the engine is the only child of its server that runs engine-main. */
function enginePid(serverPid = process.pid): number {
  const children = readFileSync(`/proc/${serverPid}/task/${serverPid}/children`, "utf8").trim().split(" ").map(Number);
  const own = children.filter((pid) => commandOf(pid).includes("engine-main"));
  expect(own.length).toBe(1);
  return own[0]!;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

async function untilAnswer(): Promise<number> {
  const from = performance.now();
  for (;;) {
    try {
      await askStore(store, { sql: "SELECT 1" });
      return performance.now() - from;
    } catch (error) {
      expect(isRetryable(error)).toBe(true);
    }
  }
}

/** One more engine, in a folder of its own. */
async function startAside(more: Partial<SupervisorOptions>): Promise<EngineSupervisor> {
  const folder = makeDataDir();
  const supervisor = await EngineSupervisor.start({
    dataDir: folder,
    socketPath: join(folder, "engine.sock"),
    memoryBytesMax: 1e9,
    guest: { timeoutMs: 1000, memoryBytesMax: 1e8, rowsMax: 10 },
    folderWaitMs: 0,
    ...more,
  });
  onTestFinished(async () => {
    await supervisor.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return supervisor;
}

/** The niceness of each thread, from the 17th field behind the name of `stat`, and that of the session where it has one. */
function nicenessOf(pid: number): { readonly threads: readonly number[]; readonly session: number | null } {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
  });
  const path = `/proc/${pid}/autogroup`;
  const session = existsSync(path) ? /nice (-?\d+)/.exec(readFileSync(path, "utf8")) : null;
  return { threads, session: session === null ? null : Number(session[1]) };
}

describe("the engine process", () => {
  it("gives way to its server once it is told to, and so does the one after it", async () => {
    const supervisor = await startAside({});
    const [own, before] = [nicenessOf(process.pid), nicenessOf(supervisor.pid as number)];
    expect(new Set(before.threads)).toEqual(new Set([own.threads[0]]));
    supervisor.giveWay();
    const lower = (nice: number): number => Math.min(19, nice + 5);
    const hasGivenWay = (): void => {
      const { threads, session } = nicenessOf(supervisor.pid as number);
      expect(Math.min(...threads)).toBe(lower(own.threads[0] as number));
      expect(session).toBe(before.session === null ? null : lower(own.session ?? 0));
    };
    await vi.waitFor(hasGivenWay, 5000);
    process.kill(supervisor.pid as number, "SIGKILL");
    await vi.waitFor(() => expect(supervisor.restarts).toBe(1), 5000);
    await supervisor.whenReady();
    await vi.waitFor(hasGivenWay, 5000);
  });

  it.each(["SIGKILL", "SIGSEGV", "SIGABRT", "SIGBUS"] as const)("is back within moments after %s", async (signal) => {
    const pid = enginePid();
    const sql = "SELECT sum(sipHash64(number)) FROM numbers(100000000000)";
    const call = askStore(store, { sql }).catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 100));
    process.kill(pid, signal);
    expect(await call).toMatchObject({ kind: "engine_down", retryable: true });
    // A second is the aim on an idle machine; the tests share theirs with others.
    expect(await untilAnswer()).toBeLessThan(10_000);
    expect(enginePid()).not.toBe(pid);
    expect(crashes).toEqual([expect.stringContaining("SIG")]);
  });

  it("comes back after the system has refused to start it, and its server lives on", async () => {
    const supervisor = await startAside({});
    const launches = vi.spyOn(supervisor as unknown as { launch(): Promise<unknown> }, "launch");
    launches.mockRejectedValueOnce(new Error("spawn ENOMEM"));
    process.kill(supervisor.pid as number, "SIGKILL");
    await vi.waitFor(() => expect(launches).toHaveBeenCalledTimes(2), 20_000);
    await vi.waitFor(() => supervisor.whenReady(), 20_000);
    expect(supervisor.restarts).toBe(1);
  });

  it("is started anew when it stands still", async () => {
    const supervisor = await startAside({ pingEveryMs: 100 });
    const { pid } = supervisor;
    process.kill(pid as number, "SIGSTOP");
    await expect.poll(() => supervisor.restarts, { timeout: 20_000 }).toBe(1);
    await supervisor.whenReady();
    expect(supervisor.pid).not.toBe(pid);
  });

  it("is replaced when it stands still before its first word", async () => {
    const supervisor = await startAside({ firstWordMs: 5000 });
    const first = supervisor.pid as number;
    process.kill(first, "SIGKILL");
    await expect.poll(() => supervisor.pid, { interval: 1 }).not.toBe(first);
    const second = supervisor.pid as number;
    process.kill(second, "SIGSTOP");
    await expect.poll(() => supervisor.pid, { timeout: 40_000 }).not.toBe(second);
    await supervisor.whenReady();
  });

  it("keeps its socket to its own user", () => {
    expect(statSync(join(dataDir, "engine.sock")).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataDir, "store")).mode & 0o077).toBe(0);
  });

  it("loses and doubles nothing when it is killed during inserts that are repeated with their tokens", async () => {
    await store.ddl("CREATE DATABASE tributary ENGINE = Atomic");
    await store.ddl(`CREATE TABLE tributary.t (id Int64, text String) ENGINE = MergeTree ORDER BY id
      SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1`);
    const perBlock = 500;
    let blocks = 0;
    for (let round = 0; round < 10; round++) {
      const killed = new Promise((resolve) => setTimeout(resolve, 20 + round * 7)).then(() =>
        process.kill(enginePid(), "SIGKILL"),
      );
      for (let i = 0; i < 12; i++) {
        const rows = Array.from({ length: perBlock }, (_, k) => ({ id: blocks * perBlock + k, text: `row ${k}` }));
        const block = encodeObjects({ id: "Int64", text: "String" }, rows);
        for (let done = false; !done; ) {
          done = await store.insert("t", block, { token: `block-${blocks}` }).then(
            () => true,
            (error) => {
              expect(isRetryable(error)).toBe(true);
              return false;
            },
          );
        }
        blocks++;
      }
      await killed;
      await untilAnswer();
    }
    const [row] = await askStore(store, {
      sql: "SELECT count() AS n, uniqExact(id) AS ids, max(id) AS last FROM tributary.t",
    });
    const n = blocks * perBlock;
    expect(row).toEqual({ n: String(n), ids: String(n), last: String(n - 1) });
    expect(crashes.length).toBeGreaterThanOrEqual(10);
    // Ten starts of the engine, one after another, take most of the usual limit on a machine with other work.
  });
});

/** A server of its own: opens the folder, says so, and waits. */
async function startOther(folderWaitMs: number): Promise<{ child: ChildProcess; line: Promise<string> }> {
  const program = `
    import { createStore } from ${JSON.stringify(new URL("../client.ts", import.meta.url).href)};
    const address = { kind: "embedded", dataDir: ${JSON.stringify(dataDir)}, folderWaitMs: ${folderWaitMs} };
    try {
      await createStore(address);
      console.log("open");
    } catch (error) {
      console.log(JSON.stringify({ kind: error.kind, message: error.message }));
    }
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  others.push(child);
  const line = new Promise<string>((resolve) => child.stdout?.once("data", (data) => resolve(String(data).trim())));
  return { child, line };
}

async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

/** A `setpriv` that takes the rules of a fence also where the system has none; what they keep out does not matter here. */
function provideFence(folder: string): void {
  const script = `#!/bin/sh
    for word do
      shift
      case $word in --landlock-*) ;; *) set -- "$@" "$word" ;; esac
    done
    PATH=\${PATH#*:} exec setpriv "$@"
  `;
  writeFileSync(join(folder, "setpriv"), script, { mode: 0o755 });
  vi.stubEnv("PATH", `${folder}:${process.env["PATH"]}`);
  onTestFinished(() => void vi.unstubAllEnvs());
}

describe("the data folder", () => {
  it("belongs to one server: a second one is told whose it is", async () => {
    const { child, line } = await startOther(300);
    const answer = JSON.parse(await line);
    await end(child);
    expect(answer.kind).toBe("folder_taken");
    expect(answer.message).toContain(`process ${process.pid}`);
    expect(await store.ping()).toBe(true);
  });

  it("stays with its server while the engine is between two lives", async () => {
    const { child, line } = await startOther(2000);
    for (let i = 0; i < 4; i++) {
      process.kill(enginePid(), "SIGKILL");
      await untilAnswer();
    }
    const answer = JSON.parse(await line);
    await end(child);
    expect(answer.kind).toBe("folder_taken");
    expect(await store.ping()).toBe(true);
  });

  it("is free again right after its server was killed", async () => {
    await store.close();
    const { child, line } = await startOther(5000);
    expect(await line).toBe("open");
    await end(child);
    const from = performance.now();
    store = await createStore({ kind: "embedded", dataDir });
    expect(performance.now() - from).toBeLessThan(5000);
  });

  it("is free again after its server was killed beside an engine that stands still", async () => {
    if ((await findConfinement()) === "none") return;
    await store.close();
    const { child, line } = await startOther(5000);
    expect(await line).toBe("open");
    const engine = enginePid(child.pid);
    process.kill(engine, "SIGSTOP");
    await end(child);
    await expect.poll(() => commandOf(engine), { timeout: 5000 }).toBe("");
    store = await createStore({ kind: "embedded", dataDir });
    expect(await store.ping()).toBe(true);
  });

  it("is waited for while an engine without a server still holds it", async () => {
    rmSync(join(dataDir, "engine", "owner.json"));
    const guest = { timeoutMs: 1000, memoryBytesMax: 1e8, rowsMax: 10 };
    const options = { dataDir, socketPath: join(dataDir, "other.sock"), memoryBytesMax: 1e9, guest };
    let refusals = 0;
    const onEngineText = (text: string): void => {
      refusals += text.match(/\bCode: 76\b/g)?.length ?? 0;
    };
    const refused = EngineSupervisor.start({ ...options, folderWaitMs: 200, onEngineText });
    await expect(refused).rejects.toMatchObject({ kind: "folder_taken" });
    // An engine takes longer than that to find the lock; it is tried again all the same.
    expect(refusals).toBeGreaterThan(1);
    const starting = EngineSupervisor.start({ ...options, folderWaitMs: 20_000 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    await store.close();
    const supervisor = await starting;
    await supervisor.whenReady();
    await supervisor.close();
  });

  it("is waited for behind the fence that the engine has where nobody else does", async () => {
    if ((await findConfinement()) === "none") return;
    rmSync(join(dataDir, "engine", "owner.json"));
    const folder = makeDataDir();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    provideFence(folder);
    const found = Promise.withResolvers<void>();
    const onEngineText = (text: string): void => {
      if (/\bCode: 76\b/.test(text)) found.resolve();
    };
    const starting = startAside({ dataDir, confinement: "files", folderWaitMs: 20_000, onEngineText });
    await found.promise;
    await store.close();
    expect((await starting).confinement).toBe("files");
  });

  it("is waited for longer while a command has opened it for itself", async () => {
    await store.close();
    store = await createStore({
      kind: "embedded",
      dataDir,
      starting: startEmbedded({ kind: "embedded", dataDir, isBrief: true }),
    });
    const { child, line } = await startOther(0);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    await store.close();
    expect(await line).toBe("open");
    await end(child);
    store = await createStore({ kind: "embedded", dataDir });
  });

  it.each(["metadata", "status"])("is said to be damaged when it is, not taken (%s)", async (name) => {
    const folder = makeDataDir();
    mkdirSync(join(folder, "store"));
    if (name === "metadata") writeFileSync(join(folder, "store", name), "no folder");
    else mkdirSync(join(folder, "store", name));
    const opening = createStore({ kind: "embedded", dataDir: folder });
    await expect(opening).rejects.toMatchObject({ kind: "engine_down", message: expect.stringContaining(name) });
    rmSync(folder, { recursive: true, force: true });
  });

  it("is waited for while its server is still ending", async () => {
    await store.close();
    const { child, line } = await startOther(5000);
    expect(await line).toBe("open");
    const opening = createStore({ kind: "embedded", dataDir });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await end(child);
    store = await opening;
    expect(await store.ping()).toBe(true);
  });

  it("refuses calls after close", async () => {
    await store.close();
    await expect(askStore(store, { sql: "SELECT 1" })).rejects.toThrow(StoreOutage);
  });
});
