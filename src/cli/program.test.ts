import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FileBody } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { type OpenServer, openServer } from "#server/http/open-server.testing.ts";
import { makeFolder } from "../../tests/support/folder.ts";
import { freePort } from "../../tests/support/free-port.ts";
import { createProgram } from "./program.ts";
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

const summary = {
  id: "run-1",
  name: "first try",
  status: "running",
  status_raw: "",
  protocols: ["xtrack"],
  experiment: "",
  tags: [],
  start_ns: "1000000000",
  end_ns: null,
  duration_ns: "90000000000",
  updated_ns: "1",
  progress: { current: 3, total: 4, unit: "epoch", message: "" },
  workers: 1,
  launch: null,
  parent: null,
  archived: false,
  error: "",
  integrity: { faults: 2, missing: 0, duplicates: 0, nonfinite: 1 },
  cells: { "metrics.loss.last": { text: "0.123456789", num: 0.123456789 } },
};

async function start(handlers: object): Promise<string> {
  server = await openServer({ handlers: handlers as never });
  return server.url;
}

describe("every command", async () => {
  const { commands } = await createProgram({} as never);

  it.each(commands.map((command) => command.name()))("%s has help with an example", async (name) => {
    const { code, out } = await runInTest([name, "--help"]);
    expect(code).toBe(0);
    if (name !== "help") expect(out).toMatch(/Example:\n {2}tributary /);
  });

  it.each(commands.map((command) => command.name()))("%s refuses an option nobody knows, with 2", async (name) => {
    // An option that must be there is missed first.
    const { options } = commands.find((command) => command.name() === name) as (typeof commands)[number];
    const needed = options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [long ?? "", "x"]);
    const { code, err } = await runInTest([name, ...needed, "--colour-of-the-sky"]);
    expect(code).toBe(2);
    expect(err).toContain("unknown option");
  });

  it("is suggested when it is mistyped", async () => {
    const { code, err } = await runInTest(["rnus"]);
    expect([code, err]).toEqual([2, expect.stringContaining("Did you mean runs?")]);
  });

  it.each([
    [["rules", "try"], "unknown command 'rules try'. There are: list, test, "],
    [["keys", "show"], "unknown command 'keys show'. There are: list, create, revoke, help."],
    [["help", "nothing"], "unknown command 'nothing'"],
    [["--server", "http://127.0.0.1:9", "runs"], "'--server' comes after the command"],
    [
      ["runs", "--limit", "many"],
      "'--limit <n>' argument 'many' is invalid. It must be a whole number from 1 to 1000.",
    ],
    [["runs", "--limit", "0"], "'--limit <n>' argument '0' is invalid. It must be a whole number from 1 to 1000."],
    [
      ["sql", "SELECT 1", "--limit", "0"],
      "'--limit <n>' argument '0' is invalid. It must be a whole number from 1 to ",
    ],
    [["delete", "--filter", " ", "--yes"], "'--filter <filter>' argument ' ' is invalid. It would delete every run."],
    [["aside", "retry", "all"], "'all' is invalid for argument 'positions'. It must be a whole number."],
    [["gate", "r", "--rules", "/no/rules.toml"], "/no/rules.toml cannot be read: there is no such file or folder."],
    [["restore", "/no/such.tar", "--data", "/tmp/no-such-folder"], "Cannot use /no/such.tar: there is no folder /no."],
  ])("says of what is wrong in %j what it is, with 2", async (args, said) => {
    const { code, err } = await runInTest(args);
    expect([code, err]).toEqual([2, expect.stringContaining(said)]);
  });
});

describe("runs", () => {
  it("is a table that fits, without colours where nobody looks", async () => {
    const seen: unknown[] = [];
    const url = await start({
      runs: ({ query }: { query: unknown }) => {
        seen.push(query);
        return { runs: [summary], next: null, total: 1, as_of: "a-1" };
      },
    });
    const args = [
      "runs",
      "--server",
      url,
      "--filter",
      "status:running",
      "--column",
      "metrics.loss.last",
      "--sort",
      "-start",
    ];
    const { code, out } = await runInTest(args, { columns: 110 });
    expect(code).toBe(0);
    expect(seen).toEqual([{ limit: 50, filter: "status:running", columns: ["metrics.loss.last"], sort: ["-start"] }]);
    const lines = out.trimEnd().split("\n");
    expect(lines[1]).toMatch(/^run-1 +first try +running 75% +xtrack .*1m 30s +2 faults, 1 NaN +0\.12346$/);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(110);
    expect(out).not.toContain("\u001b");
  });

  it("is the answer itself with --json", async () => {
    const answer = { runs: [summary], next: null, total: 1, as_of: "a-1" };
    const url = await start({ runs: () => answer });
    const { out } = await runInTest(["runs", "--server", url, "--json"]);
    expect(JSON.parse(out)).toEqual(answer);
  });

  it("says that nothing matches what is to be deleted, with 1, and that one run cannot be compared, with 2", async () => {
    const url = await start({ runs: () => ({ runs: [], next: null, total: 0, as_of: "a-1" }) });
    const gone = await runInTest(["delete", "--server", url, "--filter", "name:nothing", "--yes"]);
    expect([gone.code, gone.err]).toEqual([1, "error No run matches.\n"]);
    const alone = await runInTest(["compare", "--server", url, "one"]);
    expect([alone.code, alone.err]).toEqual([2, "error Name two or more runs to compare.\n"]);
  });

  it("sends a payload's numbers with the digits they were typed with", async () => {
    const bodies: unknown[] = [];
    const url = await start({
      sendCommand: ({ body }: { body: { payload: Record<string, unknown> } }) => {
        bodies.push(body.payload);
        throw new Refusal("run_not_found", "Enough.");
      },
    });
    await runInTest(["send", "--server", url, "r", "custom", "--payload", '{"seed":1152921504606846977,"lr":1e-3}']);
    expect(bodies).toEqual([{ seed: 1152921504606846977n, lr: 0.001 }]);
  });

  it("points at the character where a filter goes wrong, with 1", async () => {
    const url = await start({
      runs: () => {
        throw new Refusal("filter_syntax", "A value is missing.", {
          hint: "Add one.",
          at: { part: "filter", offset: 6 },
        });
      },
    });
    const { code, err } = await runInTest(["runs", "--server", url, "--filter", "status"]);
    expect([code, err]).toEqual([1, "error A value is missing. (at character 7)\nAdd one.\n"]);
  });

  it("keeps escape sequences of user text out of the terminal", async () => {
    const url = await start({
      runs: () => ({ runs: [{ ...summary, name: "\u001b[31mred\u0007" }], next: null, total: 1, as_of: "a-1" }),
    });
    const { out } = await runInTest(["runs", "--server", url]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(out).not.toMatch(/[\u001b\u0007]/);
  });
});

describe("the other commands", () => {
  it("sql prints a table, NULL and 64-bit integers as they are", async () => {
    const seen: unknown[] = [];
    const url = await start({
      sql: ({ body }: { body: unknown }) => {
        seen.push(body);
        return {
          columns: [
            { name: "n", type: "Int64" },
            { name: "what", type: "Nullable(String)" },
          ],
          rows: [
            ["9007199254740993", "x"],
            ["1", null],
          ],
          truncated: false,
          elapsed_ms: 1.4,
        };
      },
    });
    const { out } = await runInTest(["sql", "--server", url], { stdin: "SELECT 1" });
    expect(seen).toEqual([{ query: "SELECT 1", limit: 10_000 }]);
    expect(out).toBe("               n  what\n9007199254740993  x\n               1  NULL\n2 rows in 1 ms\n");
  });

  it("export writes what the server sends, to a file or to standard output", async () => {
    const url = await start({ exportRun: () => new FileBody("application/x-ndjson", '{"a":1}\n', "run.jsonl") });
    expect((await runInTest(["export", "r", "--server", url])).out).toBe('{"a":1}\n');
    expect((await runInTest(["export", "--server", url])).code).toBe(2);
  });

  it("takes what it would not heed for wrong use, with 2", async () => {
    const url = await start({});
    const wrong = [
      ["export", "r", "--filter", "status:failed"],
      ["export", "r", "--to", url, "--out", join(folder, "x")],
      ["export", "--to", url, "--header", "a=b", "r", "--format", "csv"],
      ["export", "r", "--to", "collector:4318"],
      ["export", "r", "--header", "a=b"],
      ["export", "r", "--kind", "metrics"],
      ["sql", "SELECT 1", "--format", "csv", "--limit", "5"],
      ["sql", "SELECT 1", "--format", "csv", "--json"],
      ["sql", "SELECT 1", "--out", join(folder, "x")],
    ];
    for (const args of wrong) expect((await runInTest([...args, "--server", url])).code).toBe(2);
  });

  it("delete does not happen without --yes where nobody can be asked", async () => {
    const deleted: unknown[] = [];
    const url = await start({
      run: ({ params }: { params: { id: string } }) => ({ ...summary, id: params.id === "alias" ? "a" : params.id }),
      deleteRuns: ({ body }: { body: unknown }) => {
        deleted.push(body);
        return { deleted: 2, as_of: "a-1" };
      },
    });
    expect((await runInTest(["delete", "a", "b", "--server", url])).code).toBe(2);
    expect(deleted).toEqual([]);
    expect((await runInTest(["delete", "a", "alias", "b", "--yes", "--server", url])).out).toBe("Deleted 2 runs.\n");
    expect(deleted).toEqual([{ ids: ["a", "b"], expect: 2 }]);
  });

  const queuedCommand = (type: string) => ({
    ...{ id: "c1", run: "r", also: [], type, payload: "{}", worker: null, state: "queued" },
    ...{ by: "", created_ns: "1", note: "" },
  });

  it("send waits until a worker has answered, and fails when it refuses", async () => {
    const command = queuedCommand("pause");
    let state = "queued";
    const url = await start({
      sendCommand: () => ({ ...command, state }),
      commands: () => ({ accepting: [], how: "", commands: [{ ...command, state, note: "busy" }], as_of: "a-1" }),
    });
    state = "delivered";
    setTimeout(() => (state = "refused"), 300);
    const { code, out } = await runInTest(["send", "r", "pause", "--server", url]);
    expect([code, out]).toEqual([1, "pause refused: busy\n"]);
    expect((await runInTest(["send", "r", "pause", "--payload", "[1]", "--server", url])).code).toBe(2);
    expect((await runInTest(["send", "r", "explode", "--server", url])).code).toBe(2);
  });

  it("send says how a run could hear commands when none of its workers does, with 1", async () => {
    const command = queuedCommand("stop");
    const how = "Start the program with tributary run, or ask for commands in run_start.";
    const url = await start({
      sendCommand: () => command,
      commands: () => ({ accepting: [], how, commands: [command], as_of: "a-1" }),
    });
    const { code, out, err } = await runInTest(["send", "r", "stop", "--server", url]);
    expect([code, out]).toEqual([1, "stop queued\n"]);
    expect(err).toBe(
      `error No worker of this run accepts commands at the moment; the command waits for one.\n${how}\n`,
    );
  });

  it("check gives every finding to programs, and takes a schema folder that is not there for wrong use", async () => {
    const file = join(folder, "many.jsonl");
    writeFileSync(file, '{"record_type":"ser"}\n'.repeat(1200));
    const { out } = await runInTest(["check", file, "--json"]);
    expect(out.trimEnd().split("\n").length).toBeGreaterThan(1200);
    const { code, err } = await runInTest(["check", file, "--schema-dir", join(folder, "none")]);
    expect([code, err]).toEqual([2, expect.stringContaining("cannot be read")]);
  });

  it("keys takes a scope that there is not for wrong use, and says which there are", async () => {
    const { code, err } = await runInTest(["keys", "create", "--name", "n", "--scope", "read", "--scope", "all"]);
    expect([code, err]).toEqual([2, expect.stringContaining("Choose from ingest, read, control, admin.")]);
  });

  it("keys shows a new key once, on standard output alone", async () => {
    const url = await start({});
    // Once the key exists, its maker is known by the secret in the data folder.
    writeFileSync(join(folder, "owner-secret"), `${server?.ownerSecret}\n`);
    const made = await runInTest([
      "keys",
      "create",
      "--name",
      "ci",
      "--scope",
      "read",
      "--server",
      url,
      "--data",
      folder,
    ]);
    expect(made.out).toMatch(/^trib_[\w-]{43}\n$/);
    expect((await runInTest(["keys", "--server", url, "--data", folder])).out).toMatch(
      /ci +default +read +\w+( ago)? +never/,
    );
    const { id } = JSON.parse((await runInTest(["keys", "list", "--json", "--server", url, "--data", folder])).out)
      .keys[0];
    expect((await runInTest(["keys", "revoke", id, "--server", url, "--data", folder])).out).toBe(`Revoked ${id}.\n`);
    expect((await runInTest(["keys", "revoke", id, "--server", url, "--data", folder])).code).toBe(1);
  });

  it("check says file, line and column, and ends with 1", async () => {
    const file = new URL("../../tests/fixtures/semantiva/plain_file/trace.ser.jsonl", import.meta.url).pathname;
    expect((await runInTest(["check", file])).code).toBe(0);
    const { code, out } = await runInTest(["check", "-"], { stdin: '{"record_type": 7}\n' });
    expect([code, out]).toEqual([1, expect.stringMatching(/^<stdin>:1:\d+: error: /)]);
  });

  it("doctor says what is wrong and ends with 1", async () => {
    const url = await start({});
    const good = await runInTest(["doctor", "--server", url, "--data", folder]);
    expect([good.code, good.out]).toEqual([0, expect.stringContaining("is ready")]);
    const bad = await runInTest(["doctor", "--data", join(import.meta.filename, "data")]);
    expect([bad.code, bad.out]).toEqual([1, expect.stringContaining("cannot be written")]);
  });

  it("doctor says that a server that was named is away", async () => {
    const away = `http://127.0.0.1:${await freePort()}`;
    const sentence = `no Tributary answers at ${away}`;
    const flag = await runInTest(["doctor", "--server", away, "--data", folder]);
    expect([flag.code, flag.out]).toEqual([1, expect.stringContaining(sentence)]);
    const variable = await runInTest(["doctor", "--data", folder], { env: { TRIBUTARY_SERVER: away } });
    expect([variable.code, variable.out]).toEqual([1, expect.stringContaining(sentence)]);
    const none = await runInTest(["doctor", "--data", folder], { env: { TRIBUTARY_HTTP: away.slice(7) } });
    expect(none.out).toContain("is free");
  });
});
