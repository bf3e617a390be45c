// What people's SQL costs: questions over all points of a large folder, asked of the views as a guest does, and of the
// tables behind them, which know no runs.
//
// Usage: node bench/sql.ts [points, 40000000] [--save]

import { createStore } from "#store/client.ts";
import type { Store } from "#store/store.ts";
import { fillStore, fillTable, settle } from "./support/fill-store.ts";
import { inFolder } from "./support/folder.ts";
import { describeMachine, quantile, whole } from "./support/server.ts";
import { numbers, savePage } from "./support/words.ts";

const [points = 40_000_000] = numbers;
const runs = 1000;
const rounds = 5;

interface Question {
  readonly view: string;
  /** The same of the table, where it can be asked there. */
  readonly table: string | null;
}

const questions: readonly Question[] = [
  { view: "SELECT count() FROM metrics", table: "SELECT count() FROM tributary.metrics" },
  {
    view: "SELECT key, avg(value) FROM metrics GROUP BY key",
    table: "SELECT key, avg(value) FROM tributary.metrics GROUP BY key",
  },
  {
    view: "SELECT run_id, avg(value) FROM metrics GROUP BY run_id",
    table: "SELECT group_key, avg(value) FROM tributary.metrics GROUP BY group_key",
  },
  {
    view: "SELECT run_id, key, avg(value) FROM metrics GROUP BY run_id, key",
    table: "SELECT group_key, key, avg(value) FROM tributary.metrics GROUP BY group_key, key",
  },
  {
    view: "SELECT count(), max(value) FROM metrics WHERE run_id = 'run-77' AND key = 'metric_3'",
    table:
      "SELECT count(), max(value) FROM tributary.metrics WHERE group_key = 'default/x/run-77' AND key = 'metric_3'",
  },
  { view: "SELECT count(), max(value) FROM metrics_of(run = 'run-77') WHERE key = 'metric_3'", table: null },
];

async function fill(store: Store): Promise<void> {
  await store.ddl(`INSERT INTO ${store.database}.groups (group_key, workspace, protocol, run_id, version)
    SELECT concat('default/x/run-', toString(number)), 'default', 'xtrack', concat('run-', toString(number)), 1 FROM numbers(${runs})`);
  await fillTable(
    store,
    points,
    "metrics (group_key, key, worker, phase, step, ts_ns, value, source, seq, entry, received_ns, jpos, jrow)",
    `concat('default/x/run-', toString(intDiv(number, 10) % ${runs})), concat('metric_', toString(number % 10)), 'w0', 'train',
      intDiv(number, ${runs * 10}), 1700000000000000000 + number * 1000, sin(number), 'xtrack', number + 1, -1,
      1700000000000000000 + number * 1000, intDiv(number, 1000), number % 1000`,
  );
  // A merge that goes on would be measured too.
  await settle(store);
}

async function time(store: Store, sql: string, asGuest: boolean): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    const { chunks } = await store.answer({ sql }, { asGuest });
    for await (const _ of chunks);
    times.push(performance.now() - began);
  }
  return quantile(times, 0.5);
}

async function measure(dataDir: string): Promise<string[]> {
  await fillStore(dataDir, fill);
  const store = await createStore({ kind: "embedded", dataDir });
  const lines: string[] = [];
  for (const { view, table } of questions) {
    const byView = await time(store, view, true);
    const byTable = table === null ? "" : (await time(store, table, false)).toFixed(0);
    lines.push(`| \`${view}\` | ${byView.toFixed(0)} | ${byTable} |`);
  }
  await store.close();
  return lines;
}

const lines = await inFolder(measure);
const page = `# SQL

\`node bench/sql.ts\` on ${describeMachine()}. ${whole(points)} points of ${whole(runs)} runs, ten series each; the median of ${rounds}.

| question | views, ms | tables, ms |
| --- | ---: | ---: |
${lines.join("\n")}
`;
await savePage("sql", page);
