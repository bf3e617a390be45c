import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolder } from "../support/folder.ts";

const main = new URL("../../src/main.ts", import.meta.url).pathname;
const lines = readFileSync(new URL("../fixtures/semantiva/plain_file/trace.ser.jsonl", import.meta.url));
let folder: string;
const started: ChildProcess[] = [];
beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

interface Up {
  readonly child: ChildProcess;
  /** Where it listens; rejects with what it said when it ended instead. */
  readonly url: Promise<string>;
  readonly ended: Promise<{ code: number | null; err: string }>;
}

function up(...flags: string[]): Up {
  const args = [
    main,
    "up",
    "--data",
    join(folder, "data"),
    "--http",
    "127.0.0.1:0",
    "--xtrack",
    "127.0.0.1:0",
    ...flags,
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], cwd: folder });
  started.push(child);
  let out = "";
  let err = "";
  child.stderr?.on("data", (chunk) => (err += chunk));
  const ended = new Promise<{ code: number | null; err: string }>((resolve) => {
    child.once("close", (code) => resolve({ code, err }));
  });
  const url = new Promise<string>((resolve, reject) => {
    child.stdout?.on("data", (chunk) => {
      out += chunk;
      const found = /Open +(http:\S+)\n/.exec(out)?.[1];
      if (found) resolve(found);
    });
    void ended.then(() => reject(new Error(err)));
  });
  url.catch(() => undefined);
  return { child, url, ended };
}

describe("tributary up", () => {
  it("ends when npm, which started it in a shell, stops that shell", async () => {
    const flags = ["up", "--data", join(folder, "data"), "--http", "127.0.0.1:0", "--xtrack", "127.0.0.1:0"];
    const words = [process.execPath, main, ...flags].map((word) => `'${word}'`).join(" ");
    const env = { ...process.env, npm_command: "exec" };
    const shell = spawn("sh", ["-c", `${words}; :`], { stdio: ["ignore", "pipe", "inherit"], cwd: folder, env });
    started.push(shell);
    const [first] = (await once(shell.stdout as Readable, "data")) as [Buffer];
    const url = /Open +(http:\S+)\n/.exec(String(first))?.[1] ?? "";
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    shell.kill("SIGTERM");
    // The pipe ends with the last process that holds it.
    await once(shell.stdout as Readable, "end");
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it("drains and exits within 10 s of SIGTERM, and the next start has everything", async () => {
    const first = up();
    const accepted = await fetch(`${await first.url}/v1/trace-stream`, { method: "POST", body: lines });
    expect(accepted.status).toBe(202);
    const begun = performance.now();
    first.child.kill("SIGTERM");
    expect((await first.ended).code).toBe(0);
    expect(performance.now() - begun).toBeLessThan(10_000);
    const second = up();
    const answer = await (await fetch(`${await second.url}/api/v1/runs`)).json();
    expect(answer).toMatchObject({ total: 1, runs: [{ status: "completed", protocols: ["semantiva"] }] });
  });

  it("refuses a data folder that another process uses, and a port, and says so without a stack", async () => {
    const first = up();
    const port = new URL(await first.url).port;
    const refused = [
      { flags: [], said: String(first.child.pid) },
      { flags: ["--data", join(folder, "other"), "--http", `127.0.0.1:${port}`], said: `127.0.0.1:${port}` },
    ];
    const ends = refused.map(async ({ flags, said }) => ({ ...(await up(...flags).ended), said }));
    for (const { code, err, said } of await Promise.all(ends)) {
      expect(code).toBe(3);
      expect(err).toContain(said);
      expect(err).not.toMatch(/\n +at /);
    }
  });
});
