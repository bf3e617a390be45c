// What a collector costs by what its store holds: folders of growing size, each filled by SQL straight into the engine
// (runs of 10,000 spans a year back, points and trace lines beside them), then a real server on each. Start, memory,
// ingest, a late row and a deletion are measured on every folder in one run, so that their ratios mean something.
//
// Usage: node bench/growth.ts [--sizes 1000000,10000000,50000000] [--points 100000000] [--lines 2000000] [--save]

import { createHash } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { fillCirronIds } from "#store/schema/cirron-ids.ts";
import type { Store } from "#store/store.ts";
import { createCirronLoad } from "./support/cirron-load.ts";
import { fillStore, fillTable, settle } from "./support/fill-store.ts";
import { postAll, postTraces } from "./support/post.ts";
import { type BenchServer, describeMachine, measure, quantile, startServer, timed, whole } from "./support/server.ts";
import { commandOf, option, savePage } from "./support/words.ts";

const sizes = (option("--sizes") ?? "1000000,10000000,50000000").split(",").map(Number);
const pointsMax = Number(option("--points") ?? 100_000_000);
const linesMax = Number(option("--lines") ?? 2_000_000);
const ingestSpans = Number(option("--ingest") ?? 100_000);
const ingestRounds = 7;

const spansPerRun = 10_000;
const yearNs = 365n * 24n * 3600n * 1_000_000_000n;
const startNs = BigInt(Date.now()) * 1_000_000n - yearNs;

const id = (text: string): string => `lower(hex(MD5(${text})))`;

function fill(dataDir: string, spans: number, points: number, lines: number): Promise<void> {
  return fillStore(dataDir, async (store) => {
    const run = `intDiv(number, ${spansPerRun})`;
    const key = `concat('default/c/', ${id(`concat('b', toString(${run}))`)})`;
    const at = `toInt64(${startNs}) + toInt64(${run}) * 60000000000 + (number % ${spansPerRun}) * 1000000`;
    await fillTable(
      store,
      spans,
      `spans (group_key, span_id, parent_id, name, start_ns, end_ns, pid, rank, attrs, mark_ids, content_hash,
        received_ns, jpos, jrow)`,
      `${key}, ${id("concat('s', toString(number))")}, ${id(`concat('r', toString(${run}))`)}, 'step', ${at},
        ${at} + 500000, toInt64(${run}), 0, '{}', '[]', toUInt32(number % 4294967295 + 1), ${at}, 0, 0`,
    );
    for (const sql of fillCirronIds(store.database, "1")) await store.ddl(sql);
    await fillState(store, Math.ceil(spans / spansPerRun));
    if (points > 0) await fillPoints(store, points);
    if (lines > 0) await fillLines(store, lines);
    await settle(store);
  });
}

/** What intake would have written of these runs: their groups, names and components. */
async function fillState(store: Store, runs: number): Promise<void> {
  const db = store.database;
  const key = `concat('default/c/', ${id("concat('b', toString(number))")})`;
  const root = id("concat('r', toString(number))");
  const from = `toInt64(${startNs}) + toInt64(number) * 60000000000`;
  await store.ddl(`INSERT INTO ${db}.groups (group_key, workspace, protocol, run_id, session_id, root_kind, rank, forked,
      imported, deleted_ns, version)
    SELECT ${key}, 'default', 'cirron', ${root}, ${root}, 'unresolved_parent', 0, 0, 0, 0, ${from} FROM numbers(${runs})`);
  await store.ddl(`INSERT INTO ${db}.aliases (workspace, alias, group_key, version)
    SELECT 'default', ${root}, ${key}, ${from} FROM numbers(${runs})`);
  const state = `concat('{"keys":["', ${key}, '"],"overrides":[],"processes":["', toString(number),
    '/0"],"threads":[],"sessions":[],"unresolved":[{"id":"', ${root}, '","hasEpochChild":false,"leads":${spansPerRun}}],
    "earliest":{"ns":"', toString(${from}), '","id":""},"spans":${spansPerRun},"forked":false,"imported":false,
    "told":[],"aliases":[]}')`;
  await store.ddl(`INSERT INTO ${db}.cirron_components (group_key, workspace, merged_into, first_ns, last_ns, sources,
      state, version)
    SELECT ${key}, 'default', '', ${from}, ${from} + 10000000000, '["bench"]', ${state}, ${from} FROM numbers(${runs})`);
}

async function fillPoints(store: Store, points: number): Promise<void> {
  await fillTable(
    store,
    points,
    "metrics (group_key, key, worker, step, ts_ns, value, source, seq, entry, received_ns, jpos, jrow)",
    `concat('default/x/points-', toString(intDiv(number, 1000000))), concat('m', toString(number % 20)), 'w0',
      toInt64(intDiv(number, 20)), toInt64(${startNs}) + toInt64(number) * 1000, 1 / (number % 1000 + 1), 'xtrack',
      toInt64(number % 1000000), -1, toInt64(${startNs}), 0, 0`,
  );
  await fillGroups(store, Math.ceil(points / 1_000_000), "x/points-", "xtrack", "points-");
}

async function fillLines(store: Store, lines: number): Promise<void> {
  await fillTable(
    store,
    lines,
    "events (group_key, protocol, type, ts_ns, seq, event_id, payload, received_ns, jpos, jrow)",
    `concat('default/s/lines-', toString(intDiv(number, 1000))), 'semantiva', 'note',
      toInt64(${startNs}) + toInt64(number), 0, substring(${id("concat('l', toString(number))")}, 1, 32), '{}',
      toInt64(${startNs}), 0, 0`,
  );
  await fillGroups(store, Math.ceil(lines / 1000), "s/lines-", "semantiva", "lines-");
}

function fillGroups(store: Store, groups: number, key: string, protocol: string, run: string): Promise<void> {
  return store.ddl(`INSERT INTO ${store.database}.groups (group_key, workspace, protocol, run_id, version)
    SELECT concat('default/${key}', toString(number)), 'default', '${protocol}', concat('${run}', toString(number)), 1
    FROM numbers(${groups})`);
}

interface Started {
  readonly rows: number;
  readonly server: BenchServer;
  readonly readyMs: number;
  readonly startMiB: number;
}

async function start(dataDir: string, rows: number): Promise<Started> {
  // The first start on a folder that was filled by hand also tidies it; only the second is a normal start.
  await (await startServer({ dataDir })).close();
  const began = performance.now();
  const server = await startServer({ dataDir });
  await (await fetch(`${server.url}/readyz`)).text();
  const readyMs = performance.now() - began;
  return { rows, server, readyMs, startMiB: (await server.usage()).server.peakMiB };
}

/** A row of the page. */
async function measureRest({ server, rows, readyMs, startMiB }: Started, ingest: Ingest): Promise<string> {
  const isFilled = rows > 0;
  const looks = await measureLooks(server);
  const lateMs = isFilled ? await timed(() => sendLate(server)) : 0;
  const { deleteMs, pauseMs } = isFilled ? await measureDeletion(server) : { deleteMs: 0, pauseMs: 0 };
  const cells = [
    whole(rows),
    whole(readyMs),
    startMiB,
    whole(ingest.spansPerS),
    ingest.cpuUs.toFixed(1),
    ingest.p99Ms.toFixed(0),
    looks.map(whole).join(" · "),
    ...[lateMs, deleteMs, pauseMs].map(whole),
  ];
  return `| ${cells.join(" | ")} |`;
}

interface Ingest {
  readonly spansPerS: number;
  readonly cpuUs: number;
  readonly p99Ms: number;
}

/** Each round visits all servers in turn, so that changes of the machine's load affect them alike. */
async function measureIngest(servers: readonly BenchServer[]): Promise<Ingest[]> {
  const load = createCirronLoad(ingestSpans * (ingestRounds + 1));
  const perRound = Math.floor(load.bodies.length / (ingestRounds + 1));
  const spans = load.spans / (ingestRounds + 1);
  const took = servers.map(() => ({ seconds: [] as number[], cpuMs: [] as number[], latencyMs: [] as number[] }));
  for (let round = 0; round <= ingestRounds; round++) {
    const bodies = load.bodies.slice(round * perRound, (round + 1) * perRound);
    for (const [at, server] of servers.entries()) {
      const one = await measure(server, () => postAll(server.url, bodies));
      // The first round warms the server up.
      if (round === 0) continue;
      took[at]?.seconds.push(one.queryableS);
      took[at]?.cpuMs.push(one.server.cpuMs + one.engine.cpuMs);
      took[at]?.latencyMs.push(...one.result.latencyMs);
    }
  }
  return took.map(({ seconds, cpuMs, latencyMs }) => ({
    spansPerS: spans / quantile(seconds, 0.5),
    cpuUs: (quantile(cpuMs, 0.5) * 1000) / spans,
    p99Ms: quantile(latencyMs, 0.99),
  }));
}

/**
 * The first requests for each of some newly ingested runs, so that no earlier answer is cached: ms for the head, a chart
 * and the timeline.
 */
async function measureLooks(server: BenchServer): Promise<number[]> {
  const ask = async (path: string): Promise<string> => {
    const answer = await fetch(`${server.url}/api/v1/runs${path}`);
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`);
    return answer.text();
  };
  const { runs } = JSON.parse(await ask("?limit=10")) as { runs: { id: string }[] };
  const took = { head: [] as number[], chart: [] as number[], timeline: [] as number[] };
  for (const { id } of runs) {
    took.head.push(await timed(() => ask(`/${id}`)));
    const { metrics } = JSON.parse(await ask(`/${id}/metrics`)) as { metrics: { key: string }[] };
    const key = encodeURIComponent(metrics[0]?.key ?? "");
    took.chart.push(await timed(() => ask(`/${id}/metrics/${key}`)));
    took.timeline.push(await timed(() => ask(`/${id}/spans`)));
  }
  return [took.head, took.chart, took.timeline].map((ms) => quantile(ms, 0.5));
}

function rootOf(run: number): string {
  return createHash("md5").update(`r${run}`).digest("hex");
}

/** A span that names the session of a run of a year ago, until it is shown in that run. */
async function sendLate(server: BenchServer): Promise<void> {
  const root = rootOf(0);
  const span = `{"id":"${"f".repeat(31)}1","parent_id":"${root}","name":"late","start_ns":${startNs},"end_ns":${startNs + 5n},"pid":0,"attrs":{}}`;
  const batch = `{"schema_version":1,"sdk_version":"0.3.0","batch_id":"late","created_ns":1,"spans":[${span}],"marks":[],"snapshots":[]}`;
  const agent = new Agent();
  const status = await postTraces(server.url, agent, gzipSync(batch), { query: "?wait=1" });
  agent.destroy();
  const { counts } = (await (await fetch(`${server.url}/api/v1/runs/${root}`)).json()) as {
    counts?: { spans: number };
  };
  if (status !== 202 || counts?.spans !== spansPerRun + 1)
    throw new Error(`the late row is not in its run: ${status}, ${counts?.spans} spans`);
}

/** Deletes a run while others receive data, and returns the longest wait of a sender. */
async function measureDeletion(server: BenchServer): Promise<{ deleteMs: number; pauseMs: number }> {
  const root = rootOf(1);
  // Trainings that have not been sent before.
  const spansBefore = ingestSpans * (ingestRounds + 1);
  const { bodies } = createCirronLoad(spansBefore + 40_000);
  const fresh = bodies.slice(-Math.floor((bodies.length * 40_000) / (spansBefore + 40_000)));
  const agent = new Agent({ keepAlive: true });
  let isDone = false;
  let pauseMs = 0;
  const sending = (async () => {
    for (const body of fresh) {
      if (isDone) return;
      pauseMs = Math.max(pauseMs, await timed(() => postTraces(server.url, agent, body)));
    }
  })();
  const deleteMs = await timed(async () => {
    await fetch(`${server.url}/api/v1/runs/${root}`, { method: "DELETE" });
    while ((await fetch(`${server.url}/api/v1/runs/${root}`)).status !== 404)
      await new Promise((go) => setTimeout(go, 20));
  });
  isDone = true;
  await sending;
  agent.destroy();
  return { deleteMs, pauseMs };
}

const folders = [0, ...sizes].map((rows) => ({ rows, dataDir: mkdtempSync(join(tmpdir(), "tributary-growth-")) }));
const started: Started[] = [];
const rows: string[] = [];
try {
  for (const [at, folder] of folders.entries()) {
    const isLargest = at === sizes.length;
    if (folder.rows > 0) await fill(folder.dataDir, folder.rows, isLargest ? pointsMax : 0, isLargest ? linesMax : 0);
  }
  for (const folder of folders) started.push(await start(folder.dataDir, folder.rows));
  const ingests = await measureIngest(started.map(({ server }) => server));
  for (const [at, one] of started.entries()) rows.push(await measureRest(one, ingests[at] as Ingest));
} finally {
  for (const { server } of started) await server.close();
  for (const { dataDir } of folders) await rm(dataDir, { recursive: true, force: true });
}
const text = `# Growth

\`${commandOf("growth")}\` on ${describeMachine()}.
Folders are filled by SQL straight into the engine; the largest also has ${whole(pointsMax)} points and ${whole(linesMax)} trace lines. Ingest is ${whole(ingestSpans)} Cirron spans with their marks over four connections, until queryable: the middle one of ${ingestRounds} rounds, each of which goes through all folders.

| Cirron spans stored | start until ready, ms | server MiB after it | spans/s | server and engine, µs a span | accept p99, ms | first look at a run, ms: head · chart · timeline | late row until shown, ms | deletion until gone, ms | longest wait of a sender meanwhile, ms |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${rows.join("\n")}
`;
await savePage("growth", text);
