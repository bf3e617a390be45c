import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { writeBackup } from "#archive/backup.ts";
import { runInTest } from "#cli/run-cli.testing.ts";
import { readConfig } from "#config/read-config.ts";
import { formatGroupKey, groupKinds } from "#model/group-key.ts";
import { openApp } from "#server/app/app.ts";
import { createLog } from "#server/log.ts";
import { deleteGroups } from "#store/delete-groups.ts";
import { countTable } from "#store/reader/whole-tables.ts";
import type { Store } from "#store/store.ts";
import { suiteApp, testApp } from "../support/app.ts";
import { suiteFolder } from "../support/folder.ts";
import { toFrame } from "../support/frames.ts";
import { noteSyncs } from "../support/noted-syncs.ts";

const fixtures = new URL("../fixtures/", import.meta.url).pathname;
const app = suiteApp();
const folder = suiteFolder();
/** A key of the server that is backed up; a restored one lets in who has it, and nobody without. */
let key: string;
beforeAll(async () => {
  const made = await runInTest([
    "keys",
    "create",
    "--name",
    "kept",
    "--scope",
    "admin",
    "--server",
    app.app.url,
    "--json",
  ]);
  expect(made.err).toBe("");
  key = (JSON.parse(made.out) as { key: string }).key;
});

async function ask(url: string, path: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}` };
  const text = await (await fetch(url + path, { headers })).text();
  // An answer says up to where it knows, and a key when it was used; those a restored folder may say differently.
  return JSON.parse(text, (name, value) => (name === "as_of" || name === "last_used_ns" ? null : value));
}

/** The keys of every blob; folders that only wait for one do not count. */
function listBlobs(dataDir: string): string[] {
  const names = readdirSync(join(dataDir, "blobs"), { recursive: true }) as string[];
  return names.filter((name) => name.endsWith(".safetensors")).sort();
}

describe("backup and restore", () => {
  it("an archive opens a file only when it is read, so that one which is given up before fails nobody", async () => {
    const archive = writeBackup(app.app.collector, app.dataDir);
    await archive.next();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const tmp = join(app.dataDir, "tmp");
    for (const name of readdirSync(tmp)) if (name.startsWith("backup-")) rmSync(join(tmp, name), { recursive: true });
    // Opened earlier, by a stream that nobody listens to yet, a missing file would end the process.
    await expect(Array.fromAsync(archive)).rejects.toThrow("ENOENT");
    expect((await app.get("/healthz")).status).toBe(200);
  });

  it("there is one at a time, and none for a caller who has gone away", async () => {
    const { collector } = app.app;
    const held = Promise.withResolvers<void>();
    const holding = collector.writer.betweenPlans(() => held.promise);
    const headers = { authorization: `Bearer ${key}` };
    const take = (signal?: AbortSignal) =>
      fetch(`${app.app.url}/api/v1/backup`, { headers, ...(signal === undefined ? {} : { signal }) });
    const impatient = new AbortController();
    const given = take(impatient.signal).catch((error: Error) => error.name);
    const tmp = join(app.dataDir, "tmp");
    const isUnderWay = () => readdirSync(tmp).some((name) => name.startsWith("backup-"));
    await expect.poll(isUnderWay).toBe(true);
    const second = await take();
    expect([second.status, await second.json()]).toEqual([409, expect.objectContaining({ code: "backup_under_way" })]);
    impatient.abort();
    expect(await given).toBe("AbortError");
    // The server hears of it before the writer is free.
    await expect.poll(async () => (await app.get("/healthz")).status).toBe(200);
    held.resolve();
    await holding;
    await expect.poll(isUnderWay).toBe(false);
    const third = await take();
    expect(third.status).toBe(200);
    expect((await third.arrayBuffer()).byteLength).toBeGreaterThan(1000);
  });

  it("is refused with a word when the server stops before it has begun, and the stop waits for nobody", async () => {
    const stopped = await testApp();
    const held = Promise.withResolvers<void>();
    const holding = stopped.app.collector.writer.betweenPlans(() => held.promise);
    // What is not stored yet has to be before a backup begins, and cannot be while the writer is held.
    const frame = toFrame({
      type: "metric",
      seq: 1,
      ts: 1,
      payload: { run_id: "r", key: "loss", value: 1, step: 1 },
    });
    await stopped.post("/v1/xtrack", frame, { "content-type": "application/octet-stream" });
    const taken = stopped.get("/api/v1/backup");
    const second = async () => ((await stopped.get("/api/v1/backup")).body as { code: string }).code;
    await expect.poll(second).toBe("backup_under_way");
    const closed = stopped.app.close();
    expect(await taken).toMatchObject({ status: 503, body: { code: "shutting_down" } });
    held.resolve();
    await Promise.all([holding, closed]);
  });

  it("reads no table for a caller who has gone away", async () => {
    const { dataDir } = app;
    const { collector } = app.app;
    const asked: string[] = [];
    const store = Object.assign(Object.create(collector.store) as Store, {
      stream: (...given: Parameters<Store["stream"]>) => {
        asked.push(given[0].sql);
        return collector.store.stream(...given);
      },
    });
    const gone = new AbortController();
    const source = { ...collector, store, drained: async () => gone.abort() };
    await expect(writeBackup(source, dataDir, gone.signal).next()).rejects.toThrow("abort");
    expect(asked).toEqual([]);
  });

  it("has all the time that a large table takes", async () => {
    const { dataDir } = app;
    const { collector } = app.app;
    const patience = new Map<string, number | undefined>();
    const store = Object.assign(Object.create(collector.store) as Store, {
      stream: (...given: Parameters<Store["stream"]>) => {
        const [{ sql }, { timeoutMs }] = given;
        if (sql.startsWith("SELECT * FROM")) patience.set(sql, timeoutMs);
        return collector.store.stream(...given);
      },
    });
    for await (const chunk of writeBackup({ ...collector, store }, dataDir)) expect(chunk).toBeInstanceOf(Uint8Array);
    expect(patience.size).toBeGreaterThan(20);
    expect(new Set(patience.values())).toEqual(new Set([0]));
  });

  it("bring back the same answers, blobs and keys, from a server that was running", async () => {
    const paths = ["cirron/torch_full", "xtrack/file_full/events.bin", "semantiva/plain_file"];
    const server = ["--server", app.app.url];
    const imported = await runInTest(["import", ...paths.map((path) => join(fixtures, path)), ...server]);
    expect([imported.code, imported.err]).toEqual([0, ""]);
    const file = join(folder, "all.tar");
    const synced = noteSyncs();
    expect(await runInTest(["backup", file, ...server])).toMatchObject({ code: 0, err: "" });
    // A loss of power after the command has ended must not cost the backup.
    if (process.platform === "linux") expect(synced).toContain(`${file}.partial`);
    expect((await runInTest(["backup", file, ...server])).code).toBe(2);

    const dataDir = join(folder, "restored");
    const restored = await runInTest(["restore", file, "--data", dataDir]);
    expect([restored.code, restored.err, restored.out]).toEqual([
      0,
      "",
      expect.stringMatching(/^Restored [\d,]+ rows and \d+ blobs/),
    ]);
    const flags = { dataDir, httpAddress: "127.0.0.1:0", xtrackAddress: "off" };
    const again = await openApp(readConfig({ flags, env: {} }), createLog({ level: "error", format: "json" }));
    try {
      expect((await fetch(`${again.url}/api/v1/keys`)).status).toBe(401);
      const { runs } = (await ask(app.app.url, "/api/v1/runs?sort=id")) as { runs: { id: string }[] };
      expect(runs.length).toBeGreaterThan(5);
      for (const path of [
        "/api/v1/runs?sort=id",
        "/api/v1/keys",
        ...runs.map(({ id }) => `/api/v1/runs/${encodeURIComponent(id)}/metrics`),
      ]) {
        expect(await ask(again.url, path)).toEqual(await ask(app.app.url, path));
      }
      expect(listBlobs(dataDir).length).toBeGreaterThan(0);
      expect(listBlobs(dataDir)).toEqual(listBlobs(app.dataDir));
      // What is known is still known: importing again adds nothing.
      const repeated = await runInTest([
        "import",
        join(fixtures, "xtrack/file_full/events.bin"),
        "--server",
        again.url,
        "--key",
        key,
      ]);
      expect(repeated.out).toMatch(/already known/);
      expect(repeated.out).not.toMatch(/: \d+ records,/);
    } finally {
      await again.close();
    }
  });

  it("fail when a blob changes its size while it is read, instead of giving an archive that cannot be restored", async () => {
    const blobs = join(app.dataDir, "blobs");
    const path = join(blobs, listBlobs(app.dataDir)[0] as string);
    const whole = readFileSync(path);
    try {
      for (const changed of [whole.subarray(0, -1), Buffer.concat([whole, Buffer.alloc(1)])]) {
        writeFileSync(path, whole);
        const archive = async () => {
          // The header of the first blob: what it says about the size is already written.
          for await (const chunk of writeBackup(app.app.collector, app.dataDir))
            if (Buffer.from(chunk).toString("latin1", 0, 8) === "blobs/0\0") changeFirst(changed);
        };
        const changeFirst = (bytes: Buffer) => {
          for (const name of listBlobs(app.dataDir))
            if (readFileSync(join(blobs, name)).equals(whole)) writeFileSync(join(blobs, name), bytes);
        };
        await expect(archive()).rejects.toThrow(/blobs\/\d+ changed its size/);
      }
    } finally {
      writeFileSync(path, whole);
    }
  });

  it("are as of one moment while records keep coming, and what came later may be sent again", async () => {
    const sent: Buffer[] = [];
    let isOver = false;
    const sending = (async () => {
      for (let seq = 1; !isOver; seq += 20) {
        const frames = Array.from({ length: 20 }, (_, at) => {
          const payload = { run_id: "busy", key: "loss", value: at, step: seq + at };
          return toFrame({ type: "metric", seq: seq + at, ts: seq + at, payload });
        });
        sent.push(Buffer.concat(frames));
        await app.post("/v1/xtrack?wait=1", sent.at(-1) as Buffer, { "content-type": "application/octet-stream" });
      }
    })();
    const file = join(folder, "busy.tar");
    await expect.poll(() => sent.length, { timeout: 20_000 }).toBeGreaterThan(3);
    expect(await runInTest(["backup", file, "--server", app.app.url])).toMatchObject({ code: 0, err: "" });
    isOver = true;
    await sending;
    const dataDir = join(folder, "busy");
    expect((await runInTest(["restore", file, "--data", dataDir])).code).toBe(0);
    const flags = { dataDir, httpAddress: "127.0.0.1:0", xtrackAddress: "off" };
    const again = await openApp(readConfig({ flags, env: {} }), createLog({ level: "error", format: "json" }));
    try {
      const counts = async () => {
        const { points } = ((await ask(again.url, "/api/v1/runs/busy")) as { counts: { points: number } }).counts;
        const { sequences } = (await ask(again.url, "/api/v1/runs/busy/gaps")) as { sequences: { received: number }[] };
        return { points, received: sequences[0]?.received };
      };
      const before = await counts();
      expect(before.points).toBeGreaterThan(0);
      expect(before.received).toBe(before.points);
      const headers = { "content-type": "application/octet-stream", authorization: `Bearer ${key}` };
      const body = Buffer.concat(sent);
      const answer = await fetch(`${again.url}/v1/xtrack?wait=1`, { method: "POST", body, headers });
      const all = sent.length * 20;
      expect(await answer.json()).toMatchObject({ accepted: all - before.points, duplicates: before.points });
      expect(await counts()).toEqual({ points: all, received: all });
    } finally {
      await again.close();
    }
  });

  it("are whole also when a deletion that was ordered before takes rows away while they are read", async () => {
    const { dataDir } = app;
    const { collector } = app.app;
    const busy = formatGroupKey("default", groupKinds.xtrackRun, "busy");
    const before = await countTable(collector.store, "metrics");
    const store = Object.assign(Object.create(collector.store) as Store, {
      async *stream(...given: Parameters<Store["stream"]>) {
        yield* collector.store.stream(...given);
        if (given[0].sql.startsWith(`SELECT * FROM ${collector.store.database}.metrics `))
          await deleteGroups(collector.store, [busy]);
      },
    });
    const archive: Uint8Array[] = [];
    for await (const chunk of writeBackup({ ...collector, store }, dataDir)) archive.push(chunk);
    expect(await countTable(collector.store, "metrics")).toBeLessThan(before);
    const file = join(folder, "deleted.tar");
    writeFileSync(file, Buffer.concat(archive));
    expect((await runInTest(["restore", file, "--data", join(folder, "deleted")])).err).toBe("");
  });

  it("refuse a damaged archive and a folder that is in use, and leave nothing behind", async () => {
    const file = join(folder, "all.tar");
    const bytes = readFileSync(file);
    const damaged = join(folder, "damaged.tar");
    const changed = Buffer.from(bytes);
    changed[5000] = (changed[5000] ?? 0) ^ 0xff;
    writeFileSync(damaged, changed);
    const target = join(folder, "target");
    const first = await runInTest(["restore", damaged, "--data", target]);
    expect([first.code, first.err]).toEqual([1, expect.stringContaining("is damaged")]);
    writeFileSync(damaged, bytes.subarray(0, bytes.length - 100_000));
    expect((await runInTest(["restore", damaged, "--data", target])).err).toMatch(/ends too early|no manifest|damaged/);
    writeFileSync(damaged, "not an archive".repeat(100));
    expect((await runInTest(["restore", damaged, "--data", target])).err).toContain("no backup");
    expect(readdirSync(folder).filter((name) => name.startsWith("target"))).toEqual([]);
    const used = await runInTest(["restore", file, "--data", app.dataDir]);
    expect([used.code, used.err]).toEqual([2, expect.stringContaining("is not empty")]);
  });

  it("never remove what was there before: a file that was named as the folder, a volume, a link", async () => {
    const archive = join(folder, "named.tar");
    copyFileSync(join(folder, "all.tar"), archive);
    const named = await runInTest(["restore", archive, "--data", archive]);
    expect([named.code, named.err]).toEqual([2, expect.stringContaining("a file is in the way")]);
    expect(readFileSync(archive)).toEqual(readFileSync(join(folder, "all.tar")));
    const volume = join(folder, "volume");
    mkdirSync(join(volume, "lost+found"), { recursive: true });
    const link = join(folder, "link");
    symlinkSync(volume, link);
    writeFileSync(archive, readFileSync(archive).subarray(0, -100_000));
    expect((await runInTest(["restore", archive, "--data", link])).code).toBe(1);
    expect(readdirSync(link)).toEqual(["lost+found"]);
    expect((await runInTest(["restore", join(folder, "all.tar"), "--data", link])).err).toBe("");
    expect(readdirSync(volume)).toEqual(expect.arrayContaining(["collector", "lost+found", "store"]));
    expect(readdirSync(volume)).not.toContain(".restoring");
  });
});
