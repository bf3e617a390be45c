// Runs every statement of the cluster dialect in an engine that believes to be part of a cluster: it has macros, a
// cluster of one and a keeper that lives in memory. `ON CLUSTER` is left out, since that needs a real one.
// Prints one JSON line: how many statements ran, and what a query over a Distributed table reads.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Session } from "chdb";
import { schemaStatements } from "#store/schema/migrate.ts";

const folder = mkdtempSync(join(tmpdir(), "tributary-cluster-"));
const config = join(folder, "config.xml");
writeFileSync(
  config,
  `<clickhouse>
  <zookeeper><implementation>testkeeper</implementation></zookeeper>
  <macros><cluster>ours</cluster><shard>01</shard><replica>r1</replica></macros>
  <remote_servers><ours><shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard></ours></remote_servers>
</clickhouse>`,
);
const session = new Session(join(folder, "store"), { connectionArgs: [`--config-file=${config}`] });
const statements = schemaStatements({ database: "tributary", cluster: "ours", embedded: false });
for (const statement of statements) {
  await session.queryAsync(`EXPLAIN AST ${statement}`);
  await session.queryAsync(statement.replaceAll(" ON CLUSTER `ours`", ""));
}
const tables = await session.queryAsync(
  "SELECT engine, count() AS n FROM system.tables WHERE database = 'tributary' GROUP BY engine ORDER BY engine",
  { format: "JSONEachRow" },
);
const plan = await session.queryAsync("EXPLAIN SELECT count() FROM tributary.spans WHERE group_key = 'a'");
console.log(
  JSON.stringify({ statements: statements.length, tables: tables.text().trim().split("\n"), plan: plan.text() }),
);
rmSync(folder, { recursive: true, force: true });
// A session that stays open may hold the process for minutes; nothing here needs to be kept.
process.kill(process.pid, "SIGKILL");
