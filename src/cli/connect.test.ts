import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Refusal } from "#api/refusal.ts";
import { type OpenServer, openServer } from "#server/http/open-server.testing.ts";
import { makeFolder } from "../../tests/support/folder.ts";
import { freePort } from "../../tests/support/free-port.ts";
import { runInTest } from "./run-cli.testing.ts";

let server: OpenServer | undefined;
let folder: string;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function start(handlers: object): Promise<string> {
  server = await openServer({ handlers: handlers as never });
  return server.url;
}

describe("finding a server", () => {
  it("says that none answers where one was named, with 3", async () => {
    const { code, err } = await runInTest(["runs", "--server", "http://127.0.0.1:1"]);
    expect([code, err]).toEqual([3, expect.stringContaining("No server answers at http://127.0.0.1:1")]);
  });

  it("opens the data folder itself when none was named, and closes it again", async () => {
    const url = await start({ runs: () => ({ runs: [], next: null, total: 0, as_of: "a-1" }) });
    let closed = 0;
    const opened: string[] = [];
    const { code, out } = await runInTest(["runs", "--data", folder], {
      openServer: async (config) => {
        const { dataDir, httpAddress, xtrackAddress, otlpGrpcAddress, otlpHttpAddress } = config;
        opened.push(dataDir, ...[httpAddress.port, xtrackAddress, otlpGrpcAddress, otlpHttpAddress].map(String));
        return { url, xtrack: [], close: async () => void closed++ };
      },
    });
    expect([code, out, closed]).toEqual([0, "No runs.\n", 1]);
    expect(opened).toEqual([folder, "0", "off", "off", "off"]);
  });

  it("does not make a data folder to look into it", async () => {
    const { code, err } = await runInTest(["runs", "--data", join(folder, "none")]);
    expect([code, err]).toEqual([3, expect.stringContaining("there is no data in")]);
  });

  it("passes on why the folder cannot be opened, without a stack", async () => {
    const { code, err } = await runInTest(["runs", "--data", folder]);
    expect([code, err]).toEqual([
      3,
      "error The data folder is in use.\nIf a server runs there, name it with --server URL.\n",
    ]);
  });

  it("asks the server that has the folder, once that has started", async () => {
    const port = await freePort();
    const config = join(folder, "tributary.toml");
    writeFileSync(config, `[http]\nlisten = "127.0.0.1:${port}"\n`);
    const runs = () => ({ runs: [], next: null, total: 0, as_of: "a-1" });
    const ran = await runInTest(["runs", "--config", config, "--data", folder], {
      serverWaitMs: 10_000,
      openServer: async () => {
        const flags = { httpAddress: `127.0.0.1:${port}` };
        setTimeout(async () => {
          server = await openServer({ handlers: { runs } as never, flags });
        }, 200);
        throw Object.assign(new Error("The data folder is in use."), { kind: "folder_taken" });
      },
    });
    expect(ran).toMatchObject({ code: 0, out: "No runs.\n" });
  });

  it("asks the server of the settings file, with the address that it listens on", async () => {
    const url = await start({ runs: () => ({ runs: [], next: null, total: 0, as_of: "a-1" }) });
    const config = join(folder, "tributary.toml");
    writeFileSync(config, `[http]\nlisten = "0.0.0.0:${new URL(url).port}"\n`);
    expect(await runInTest(["runs", "--config", config, "--data", folder])).toMatchObject({
      code: 0,
      out: "No runs.\n",
    });
    // Where nothing listens, its data folder is opened as without the file.
    writeFileSync(config, '[http]\nlisten = "127.0.0.1:1"\n');
    const opened = await runInTest(["runs", "--config", config, "--data", folder]);
    expect([opened.code, opened.err]).toEqual([3, expect.stringContaining("The data folder is in use.")]);
  });

  it("speaks of commands where the server speaks of routes, and as JSON to those who asked for it", async () => {
    const url = await start({
      run: () => {
        throw new Refusal("run_not_found", "There is no run r.", { hint: "List runs with GET /api/v1/runs." });
      },
    });
    const { code, err } = await runInTest(["show", "r", "--server", url]);
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^error There is no run r\.\nList runs with: tributary runs /),
    ]);
    const json = await runInTest(["show", "r", "--server", url, "--json"]);
    expect(JSON.parse(json.err)).toMatchObject({ error: { exit_code: 1, message: "There is no run r." } });
    expect((await runInTest(["delete", "r", "--yes", "--server", url])).err).toContain("There is no run r.");
  });

  it("tells in a sentence why a data folder cannot be used, with 2", () => {
    writeFileSync(join(folder, "file"), "");
    const main = new URL("../main.ts", import.meta.url).pathname;
    const reasons = { [join(folder, "file")]: "a file is in the way of a folder", "/proc/x": "there is no such" };
    for (const [path, reason] of Object.entries(reasons)) {
      const flags = ["--http", "127.0.0.1:0", "--xtrack", "off"];
      const { status, stderr } = spawnSync(process.execPath, [main, "up", "--data", path, ...flags], { cwd: folder });
      expect([status, String(stderr)]).toEqual([
        2,
        expect.stringContaining(`error The data folder ${path} cannot be used: ${reason}`),
      ]);
      expect(String(stderr)).not.toContain("    at ");
    }
  });

  it("says what is wrong with the settings, with 2", async () => {
    const { code, err } = await runInTest(["runs"], { env: { TRIBUTARY_RUN_SILENCE: "soon" } });
    expect([code, err]).toEqual([2, expect.stringContaining("TRIBUTARY_RUN_SILENCE must be a time")]);
  });
});
