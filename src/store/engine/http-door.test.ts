import { rmSync } from "node:fs";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEmbedded } from "#store/embedded.ts";
import type { EngineSupervisor } from "#store/engine/supervisor.ts";
import { makeDataDir } from "../../../tests/support/store-under-test.ts";

let dataDir: string;
let engine: EngineSupervisor;

beforeAll(async () => {
  dataDir = makeDataDir();
  engine = await startEmbedded({ kind: "embedded", dataDir });
});

afterAll(async () => {
  await engine.close();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Reply {
  readonly status: number;
  readonly code: string | undefined;
  readonly text: string;
}

/** As any ClickHouse client would ask. */
async function ask(search: Record<string, string>, body = "", user = "default", root = "/"): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const query = String(new URLSearchParams(search));
    const path = query === "" ? root : `${root}?${query}`;
    const call = request({
      socketPath: engine.socketPath,
      path,
      method: "POST",
      headers: { "X-ClickHouse-User": user },
    });
    call.on("error", reject);
    call.on("response", async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
      const code = response.headers["x-clickhouse-exception-code"];
      resolve({ status: response.statusCode ?? 0, code: code?.toString(), text: Buffer.concat(chunks).toString() });
    });
    call.end(body);
  });
}

describe("the engine's door", () => {
  it("takes the query from the address or the body, in any format", async () => {
    expect(await ask({ query: "SELECT 1 + 1" })).toEqual({ status: 200, code: undefined, text: "2\n" });
    expect(await ask({ default_format: "CSV" }, "SELECT 'a', 2")).toMatchObject({ status: 200, text: '"a",2\n' });
    expect(await ask({}, "SELECT 1 AS x FORMAT JSONEachRow")).toMatchObject({ text: '{"x":1}\n' });
    expect(await ask({ default_format: "TabSeparated" }, "EXPLAIN SELECT 1")).toMatchObject({ status: 200 });
  });

  it("answers errors with a status, a code and a text", async () => {
    expect(await ask({}, "SELEC 1")).toMatchObject({
      status: 400,
      code: "62",
      text: expect.stringContaining("Code: 62. DB::Exception"),
    });
    expect(await ask({}, "SELECT * FROM nothing.nowhere")).toMatchObject({ status: 404 });
    expect(await ask({}, "SELECT 1\0")).toMatchObject({ status: 400, code: "62" });
    expect(await ask({ query: "" }, "")).toMatchObject({ code: "62", status: 400 });
  });

  it("takes back every setting of a query, also when one of them is none", async () => {
    const reply = await ask({ max_block_size: "7", no_such_setting: "1" }, "SELECT 1");
    expect(reply).toMatchObject({ code: "115" });
    for (let lane = 0; lane < 6; lane++) {
      const { text } = await ask({}, "SELECT getSetting('max_block_size') FROM numbers(1)");
      expect(Number(text)).toBeGreaterThan(1000);
    }
    expect(await ask({ "max_threads = 1, readonly": "0" }, "SELECT 1")).toMatchObject({ code: "115" });
  });

  it("gives a guest nothing but one SELECT, in whatever format", async () => {
    for (const format of ["Native", "Parquet"]) {
      for (const sql of [
        "SELECT 1; SELECT 2",
        "SET readonly = 0",
        "CREATE TABLE t (x Int8) ENGINE = Memory",
        "KILL QUERY WHERE 1 ASYNC",
      ]) {
        const reply = await ask({ default_format: format }, sql, "guest");
        expect(reply.status, sql).toBeGreaterThanOrEqual(400);
      }
      expect(await ask({ default_format: format }, "SELECT 1 AS x", "guest")).toMatchObject({ status: 200 });
    }
    const insert = await ask({ query: "INSERT INTO tributary.groups FORMAT Native" }, "x", "guest");
    expect(insert.status).toBeGreaterThanOrEqual(400);
    // The tree has names as they are: a line break in one begins a line that looks like another part of the statement.
    const disguised = "SELECT 1 AS `a\n     TableExpression (children 1)`, file('/etc/hostname')";
    for (const sql of ["SELECT getSetting('readonly')", "SELECT file('/etc/hostname')", disguised])
      expect(await ask({ readonly: "0" }, sql, "guest"), sql).toMatchObject({ status: 403, code: "497" });
    expect(await ask({}, "SELECT 1 SETTINGS readonly = 0", "guest")).toMatchObject({ code: "164" });
  });

  it("gives nobody what an answer that failed had begun with", async () => {
    const rows = { default_format: "JSONCompactEachRowWithNamesAndTypes" };
    const tooLarge = "SELECT groupArray(toString(number)) AS leftover FROM numbers(100000000)";
    expect((await ask(rows, tooLarge, "guest")).text).toMatch(/241|^\["leftover"/);
    for (let lane = 0; lane < 2; lane++)
      expect(await ask(rows, "SELECT 7", "guest")).toMatchObject({ text: '["7"]\n["UInt8"]\n[7]\n' });
  });

  it("answers a ping without the engine", async () => {
    expect(await ask({}, "", "default", "/ping")).toMatchObject({ status: 200, text: "Ok.\n" });
  });
});
