import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { array, assert, asyncProperty, constantFrom, string } from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StoreOutage } from "#store/outage.ts";
import { askStore } from "../../../tests/support/ask-store.ts";
import { blockOf } from "../../../tests/support/fact-rows.ts";
import { makeDataDir, openMigrated, suiteStore } from "../../../tests/support/store-under-test.ts";
import { checkSql } from "./guard.ts";
import { answerUserSql, checkUserSql, guardOptionsOf } from "./user-sql.ts";

const options = guardOptionsOf("tributary");
const check = (sql: string) => checkSql(sql, options);

/** Ways to another machine; `@` is the host and port of a server that must not hear of anything. */
const callsOut: readonly string[] = [
  "SELECT * FROM url('http://@/x', LineAsString)",
  "SELECT * FROM urlCluster('default', 'http://@/x', LineAsString)",
  "SELECT * FROM s3('http://@/bucket/x', 'LineAsString')",
  "SELECT * FROM s3Cluster('default', 'http://@/bucket/x', 'LineAsString')",
  "SELECT * FROM gcs('http://@/bucket/x', 'LineAsString')",
  "SELECT * FROM azureBlobStorage('DefaultEndpointsProtocol=http;BlobEndpoint=http://@/a;AccountName=a;AccountKey=a2V5', 'c', 'x')",
  "SELECT * FROM hdfs('hdfs://@/x', 'LineAsString', 'x String')",
  "SELECT * FROM deltaLake('http://@/bucket/x')",
  "SELECT * FROM iceberg('http://@/bucket/x')",
  "SELECT * FROM hudi('http://@/bucket/x')",
  "SELECT * FROM remote('@', system.one)",
  "SELECT * FROM remoteSecure('@', system.one)",
  "SELECT * FROM cluster('@', system.one)",
  "SELECT * FROM mysql('@', 'd', 't', 'u', 'p')",
  "SELECT * FROM postgresql('@', 'd', 't', 'u', 'p')",
  "SELECT * FROM mongodb('@', 'd', 't', 'u', 'p', 'x String')",
  "SELECT * FROM redis('@', 'k', 'k String')",
  "SELECT * FROM jdbc('http://@', 'd', 't')",
  "SELECT * FROM odbc('DSN=@', 'd', 't')",
  "INSERT INTO FUNCTION url('http://@/x', 'CSV', 'x Int8') SELECT 1",
  "INSERT INTO FUNCTION remote('@', default.t) SELECT 1",
  "SELECT * FROM executable('curl http://@', 'LineAsString', 'x String')",
  "CREATE TABLE t (x String) ENGINE = URL('http://@/x')",
  "SELECT aiGenerate('http://@')",
];

const goodQueries: readonly string[] = [
  "SELECT 1",
  "select count() from spans;",
  "SELECT run_id, key, max(value) FROM metrics WHERE step > 3 GROUP BY run_id, key ORDER BY 3 DESC LIMIT 10",
  "WITH slow AS (SELECT * FROM spans WHERE end_ns - start_ns > 1e6) SELECT name, count() FROM slow GROUP BY name",
  "SELECT * FROM TraceSpan AS s LEFT JOIN TraceMark AS m ON m.spanId = s.id WHERE s.runId IN ('a', 'b')",
  "SELECT name, quantilesTDigest(0.5, 0.99)(end_ns - start_ns) FROM tributary_sql.spans GROUP BY name",
  "SELECT * FROM metrics_of(run = 'r') WHERE key LIKE 'train/%'",
  "SELECT step, avg(value) OVER (PARTITION BY key ORDER BY step ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM metrics",
  "SELECT JSONExtractFloat(attrs, 'lr') AS lr, countIf(rank = 0), argMaxIf(name, start_ns, rank = 0) FROM spans GROUP BY lr",
  "WITH x -> x * 2 AS twice SELECT arrayMap(twice, bins), arrayMap(sqrt, bins), arraySum(bins) FROM snapshots",
  "SELECT arrayMap(x -> x * 2, bins), bins[1], tuple(1, 'a').1 FROM snapshots",
  "SELECT CAST(step AS Nullable(Decimal(18, 2))), step::Float64 FROM metrics -- a comment; with a semicolon\nWHERE 1",
  "SELECT 'it''s; \\'quoted\\' -- no comment /* nor this */ FORMAT CSV INTO OUTFILE' AS text",
  'SELECT `name`, "rank" FROM spans WHERE name NOT IN (SELECT name FROM spans WHERE rank = 1)',
  "SELECT a.run_id FROM runs AS a, (SELECT run_id FROM runs) AS b WHERE a.run_id = b.run_id",
  "SELECT number FROM numbers(10) UNION ALL SELECT toUInt64(step) FROM metrics WHERE step IS NOT NULL",
  "SELECT count() FROM nodes ARRAY JOIN upstream AS parent WHERE parent != ''",
  "(SELECT 1) UNION DISTINCT (SELECT 2)",
  "SELECT * EXCEPT (payload), format('{}-{}', type, worker) FROM events LIMIT 5 OFFSET 1",
  "SELECT if(value > 0, 'up', 'down') AS way, count() FROM metrics GROUP BY way WITH TOTALS",
  "SELECT toStartOfInterval(fromUnixTimestamp64Nano(ts_ns), INTERVAL 1 hour) AS h, count() FROM logs GROUP BY ALL",
  "SELECT run_id, missing FROM gaps",
  "SELECT launch_id, run_id FROM launches",
];

/** Ways out of a read-only SELECT; `@` is a file that must not be read, `%` one that must not be made. */
const escapes: readonly string[] = [
  "SELECT file('@')",
  "SELECT FILE('@')",
  "SELECT `file`('@')",
  "SELECT \"file\"('@')",
  "SELECT file/**/('@')",
  "SELECT `fi\\x6ce`('@')",
  "SELECT arrayMap(file, ['@'])",
  "SELECT arrayMap((file), ['@'])",
  "SELECT arrayMap(x -> file(x), ['@'])",
  "SELECT * APPLY(file) FROM (SELECT '@')",
  "SELECT * APPLY file FROM (SELECT '@')",
  "SELECT COLUMNS('.*') APPLY(file) FROM (SELECT '@')",
  "WITH file AS f SELECT arrayMap(f, ['@'])",
  "SELECT arrayMap(randomString, [1])",
  "SELECT arrayMap((randomString), [1])",
  "SELECT arrayFilter(dictGetInt64, ['@'])",
  "WITH randomString AS f SELECT arrayMap(f, [1])",
  "WITH randomString AS g, g AS f SELECT arrayMap((f), [1])",
  "SELECT * FROM file('@', LineAsString)",
  "SELECT * FROM FILE('@', 'LineAsString')",
  "SELECT * FROM `file`('@', LineAsString)",
  "SELECT * FROM url('file://@', LineAsString)",
  "SELECT * FROM s3('@')",
  "SELECT * FROM remote('127.0.0.1', system.one)",
  "SELECT * FROM executable('cat @', 'LineAsString', 'x String')",
  "SELECT * FROM sqlite('@', 't')",
  "SELECT * FROM merge('tributary', '.*')",
  "SELECT * FROM input('x String')",
  "SELECT * FROM view(SELECT * FROM tributary.keys)",
  "SELECT 1 INTO OUTFILE '%'",
  "SELECT 1 INTO OUTFILE '%' TRUNCATE FORMAT CSV",
  "SELECT 1 FORMAT CSV",
  "SELECT 1 FORMAT Null",
  "INSERT INTO FUNCTION file('%', 'CSV', 'x Int8') SELECT 1",
  "SELECT 1; SELECT 2",
  "SELECT 1;; INSERT INTO FUNCTION file('%', 'CSV', 'x Int8') SELECT 1",
  "SELECT 1 SETTINGS readonly = 0",
  "SELECT * FROM (SELECT getSetting('readonly') SETTINGS readonly = 0)",
  "SELECT getSetting('readonly')",
  "SET readonly = 0",
  "SET ROLE keeper",
  "KILL QUERY WHERE 1 ASYNC",
  "EXPLAIN AST SELECT 1; SELECT 2",
  "EXPLAIN SELECT 1",
  "SELECT * FROM (EXPLAIN SELECT 1)",
  "SHOW TABLES",
  "DESCRIBE spans",
  "USE tributary",
  "DROP TABLE tributary.spans",
  "SYSTEM SHUTDOWN",
  "SELECT 1) UNION ALL (SELECT 2",
  "SELECT * FROM system.processes",
  "SELECT * FROM `system`.`processes`",
  "SELECT * FROM system . tables",
  "SELECT * FROM tributary.keys",
  "SELECT * FROM spans, tributary.keys",
  "SELECT * FROM spans JOIN tributary.keys ON 1",
  "SELECT * FROM spans WHERE span_id IN tributary.keys",
  "SELECT * FROM spans WHERE span_id IN system.one",
  "SELECT * FROM information_schema.tables",
  "SELECT * FROM spans ARRAY JOIN mark_ids JOIN tributary.keys ON 1",
  "WITH x AS (SELECT * FROM tributary.keys) SELECT * FROM x",
  "SELECT (SELECT any(sha256) FROM tributary.keys)",
  "SELECT dictGet('d', 'x', 1)",
  "SELECT joinGet('tributary.keys', 'sha256', 1)",
  "SELECT hostName(), version(), currentUser()",
  "SELECT sleep(3)",
  "SELECT aiGenerate('x')",
  "SELECT hasColumnInTable('tributary', 'keys', 'sha256')",
  "SELECT $$x$$",
  "SELECT $a$ ' $a$ , file('@')",
  "SELECT 1 # comment\n, file('@')",
  "SELECT 1 -- \r , file('@')\n, file('@')",
  "SELECT 'a\\'' , file('@')",
  "SELECT 'a\\\\' , file('@') , ''",
  "SELECT ‘x’ , file('@')",
  "SELECT x'41'",
  "SELECT {x:String}",
  "SELECT @@version",
  "SELECT 1 /* open",
  "SELECT /* a /* b */ file('@') /* */ */ 1",
  "SELECT 'open",
  "SELECT `open",
  "SELECT \0 1",
  "SELECT\u00a01",
  "",
  ";",
  "(((",
];

describe("the guard", () => {
  it.each(goodQueries)("lets through: %s", (sql) => {
    expect(check(sql)).toMatchObject({ ok: true });
  });

  it.each([...escapes, ...callsOut])("refuses: %s", (sql) => {
    const verdict = check(sql);
    expect(verdict).toMatchObject({ ok: false, refusal: { reason: expect.stringMatching(/\w/) } });
    if (!verdict.ok) expect(verdict.refusal.at).toBeLessThanOrEqual(Math.max(sql.length, 0));
  });

  it("points at what it refuses", () => {
    expect(check("SELECT 1, file('x')")).toMatchObject({ refusal: { at: 10 } });
    expect(check("SELECT * FROM nothing")).toMatchObject({ refusal: { reason: "there is no table nothing", at: 14 } });
  });

  it("keeps every place in the text when it takes comments out", () => {
    const sql = "SELECT /* one\ntwo */ 1 -- end";
    expect(check(sql)).toEqual({ ok: true, sql: "SELECT       \n       1       " });
  });

  it("does not tire of long or deep queries", () => {
    expect(check(`SELECT ${"(".repeat(10_000)}1${")".repeat(10_000)}`)).toMatchObject({ ok: false });
    expect(check(`SELECT ${"1,".repeat(30_000)}1`)).toMatchObject({ ok: false });
    expect(check(`SELECT '${"''".repeat(30_000)}'`)).toMatchObject({ ok: true });
    expect(check(`SELECT '${"a".repeat(100_000)}'`)).toMatchObject({ ok: false });
  });
});

describe("user SQL in the engine", () => {
  // Without the system's fence, so that the others have to hold.
  const store = suiteStore(() => openMigrated("none"));
  let folder: string;
  const secret = "do-not-read-me-4711";

  beforeAll(async () => {
    folder = makeDataDir();
    writeFileSync(join(folder, "secret"), secret);
    await store.insert("keys", blockOf("keys", [{ key_id: "k", sha256: secret }]), { token: "k" });
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function run(sql: string, timeoutMs = 60_000, { signal } = new AbortController()): Promise<string> {
    const { chunks } = await answerUserSql(store, sql, { timeoutMs, signal });
    let text = "";
    for await (const chunk of chunks) text += Buffer.from(chunk).toString();
    return text;
  }

  const target = (): string => join(folder, "made");

  it.each(goodQueries)("answers: %s", async (sql) => {
    const verdict = checkUserSql(store, sql);
    expect(verdict).toMatchObject({ ok: true });
    if (verdict.ok) await run(verdict.sql);
  });

  it("cannot do what the guard would refuse when it is asked past the guard", async () => {
    for (const attempt of escapes) {
      const sql = attempt.replaceAll("@", join(folder, "secret")).replaceAll("%", target());
      const answer = await run(sql).catch((error: unknown) => {
        expect(error).toBeInstanceOf(StoreOutage);
        return "";
      });
      expect(answer, sql).not.toContain(secret);
      expect(existsSync(target()), sql).toBe(false);
    }
  });

  it("reaches no other machine when it is asked past the guard, whatever it calls", async () => {
    const heard: string[] = [];
    const canary = createServer((_request, response) => response.end("heard\n"));
    canary.on("connection", () => heard.push("a connection"));
    await new Promise<void>((resolve) => canary.listen(0, "127.0.0.1", resolve));
    const host = `127.0.0.1:${(canary.address() as AddressInfo).port}`;
    try {
      for (const attempt of callsOut) {
        const sql = attempt.replaceAll("@", host);
        await expect(run(sql), sql).rejects.toBeInstanceOf(StoreOutage);
        expect(heard, sql).toEqual([]);
      }
      // The engine itself can: it is the guest who may not.
      expect(await askStore(store, { sql: `SELECT * FROM url('http://${host}/x', LineAsString)` })).toEqual([
        { line: "heard" },
      ]);
    } finally {
      canary.closeAllConnections();
      canary.close();
    }
  });

  it("has limits on time, rows and memory that it cannot lift", async () => {
    await expect(run("SELECT sum(sipHash64(number)) FROM numbers(1000000000000)")).rejects.toMatchObject({
      kind: "too_large",
    });
    await expect(run("SELECT number FROM numbers(2000000)")).rejects.toMatchObject({ kind: "too_large" });
    await expect(run("SELECT groupArray(toString(number)) FROM numbers(100000000)")).rejects.toMatchObject({
      kind: "too_large",
      code: 241,
    });
    await expect(run("SELECT 1 SETTINGS max_execution_time = 0")).rejects.toMatchObject({ code: 164 });
  });

  /** Seconds within one block, which the engine does not look up from. */
  const sorted = [1, 2, 3, 4, 5, 6].reduce(
    (list, at) => `arraySort(x -> sipHash64(x, ${at}, number), ${list})`,
    "range(8000000)",
  );
  const endless = `SELECT ${sorted}[5] FROM numbers(1)`;

  it("ends a query that the engine does not end itself, and answers the next one", async () => {
    await expect(run(endless, 0)).rejects.toMatchObject({
      kind: "timeout",
      message: "The query took longer than 0 s.",
    });
    expect(await run("SELECT 1")).toBe("[1]\n");
  });

  it("counts the time that a query waits for others to nobody, and says of one that waits too long why", async () => {
    const untilGuests = (load: { busy: number; waiting: number }) =>
      expect.poll(async () => (await store.stats()).load["guest"], { timeout: 60_000 }).toEqual(load);
    // A query that was ended may hold its turn for a while.
    await untilGuests({ busy: 0, waiting: 0 });
    const asking = new AbortController();
    const others = [1, 2].map(() => run(endless, 600_000, asking).catch((error: StoreOutage) => error.kind));
    await untilGuests({ busy: 2, waiting: 0 });
    const patient = run("SELECT 1", 600_000);
    await expect(run("SELECT 1", 0)).rejects.toMatchObject({ kind: "overloaded" });
    asking.abort();
    expect(await Promise.all(others)).toEqual(["cancelled", "cancelled"]);
    expect(await patient).toBe("[1]\n");
  });

  it("reads the same text as the guard: no string ends elsewhere for the engine", async () => {
    const pieces = constantFrom("'", "\\", '"', "`", "--", "/*", "*/", "#", " ", "\n", "a", ";", ")", "''", "\\'", "é");
    await assert(
      asyncProperty(array(pieces, { maxLength: 12 }), async (parts) => {
        const sql = `SELECT '${parts.join("")}' AS x`;
        const verdict = checkUserSql(store, sql);
        if (!verdict.ok) return;
        const error = await run(verdict.sql).then(
          () => null,
          (reason: unknown) => reason as StoreOutage,
        );
        // 47: the text ended and a name came after it, as the guard saw too.
        if (error !== null) expect([47, 62]).toContain(error.code);
      }),
      { numRuns: 150 },
    );
  });

  it("never leaks, whatever is thrown together", async () => {
    const path = join(folder, "secret");
    const pieces = constantFrom(
      ..."SELECT FROM WHERE WITH AS ( ) , . * [ ] ; -> :: = IN JOIN ON UNION ALL LIMIT 1 x a y BY APPLY".split(" "),
      ..."file `file` spans keys tributary system one processes SETTINGS readonly 0 FORMAT INTO OUTFILE arrayMap".split(
        " ",
      ),
      `'${path}'`,
      `('${path}')`,
      `file('${path}')`,
      "tributary.keys",
      "/*",
      "*/",
      "--",
      "\n",
      "(SELECT",
      "SELECT *",
    );
    await assert(
      asyncProperty(array(pieces, { minLength: 2, maxLength: 14 }), string({ maxLength: 2 }), async (parts, noise) => {
        const verdict = checkUserSql(store, `SELECT ${parts.join(" ")}${noise}`);
        if (!verdict.ok) return;
        const answer = await run(verdict.sql).catch(() => "");
        if (answer.includes(secret)) throw new Error(`leaked by ${verdict.sql}`);
      }),
      { numRuns: 2000 },
    );
    expect(readFileSync(path, "utf8")).toBe(secret);
  });
});
