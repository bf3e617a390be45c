// What an XTrack run that goes on for months costs at a start: folders with runs of growing length, filled by SQL straight
// into the engine as arrivals of 600 events each, then a real server on each. The run's next event, a repeated event from
// its middle and a new one of that time are sent, and the time and memory that the run costs the server are reported.
//
// Usage: node bench/long-run.ts [--sizes 1000000,10000000,50000000] [--save]

import { fillStore, fillTable } from "./support/fill-store.ts";
import { inFolder } from "./support/folder.ts";
import { type BenchServer, describeMachine, startServer, whole } from "./support/server.ts";
import { commandOf, option, savePage } from "./support/words.ts";
import { toEvent } from "./support/xtrack-socket.ts";

const sizes = (option("--sizes") ?? "1000000,10000000,50000000").split(",").map(Number);
const workers = 8;
const arrivalEvents = 600;
const startUs = 1_790_000_000_000_000;

/** Event n of the run is number `n / workers` of worker `n % workers`, a microsecond after the one before it. */
function fill(dataDir: string, events: number): Promise<void> {
  const ns = (n: string): string => `toInt64(${startUs} + ${n}) * 1000`;
  return fillStore(dataDir, async (store) => {
    await fillTable(
      store,
      events,
      "metrics (group_key, key, worker, step, ts_ns, value, source, seq, entry, received_ns, jpos, jrow)",
      `'default/x/long', 'loss', concat('w', toString(number % ${workers})), toInt64(number), ${ns("number")},
        1 / (number % 1000 + 1), 'xtrack', toInt64(intDiv(number, ${workers})), -1, ${ns("number")}, 0, 0`,
    );
    const each = Math.ceil(events / workers / arrivalEvents);
    const first = `intDiv(number, ${workers}) * ${arrivalEvents}`;
    const last = `least(${first} + ${arrivalEvents}, ${Math.ceil(events / workers)}) - 1`;
    const at = (seq: string): string => ns(`(${seq}) * ${workers} + number % ${workers}`);
    await fillTable(
      store,
      each * workers,
      `seq_ranges (group_key, worker, first_seq, last_seq, first_ts_ns, last_ts_ns, events, duplicates, received_ns,
        jpos, jrow)`,
      `'default/x/long', concat('w', toString(number % ${workers})), toInt64(${first}), toInt64(${last}), ${at(first)},
        ${at(last)}, toUInt32(${last} - ${first} + 1), 0, ${at(last)}, toInt64(number), 0`,
    );
    await store.ddl(`INSERT INTO ${store.database}.groups (group_key, workspace, protocol, run_id, version)
      VALUES ('default/x/long', 'default', 'xtrack', 'long', 1)`);
  });
}

async function send(server: BenchServer, seq: number, us: number): Promise<{ ms: number; accepted: number }> {
  const frame = toEvent("metric", { seq, ts: us, wid: "w0" }, { run_id: "long", key: "loss", value: 1, step: 1 });
  const began = performance.now();
  const headers = { "content-type": "application/octet-stream" };
  const answer = await fetch(`${server.url}/v1/xtrack?wait=1`, {
    method: "POST",
    body: new Uint8Array(frame),
    headers,
  });
  const { accepted } = (await answer.json()) as { accepted: number };
  return { ms: performance.now() - began, accepted };
}

/** A row of the page. */
async function measure(dataDir: string, events: number): Promise<string> {
  await fill(dataDir, events);
  // The first start on a folder that was filled by hand also tidies it; only the second is a normal start.
  await (await startServer({ dataDir })).close();
  const began = performance.now();
  const server = await startServer({ dataDir });
  const readyMs = performance.now() - began;
  try {
    const before = await server.usage();
    const middle = Math.floor(events / workers / 2);
    const [next, late, beside] = [
      await send(server, events, startUs + events * 2),
      await send(server, middle, startUs + middle * workers),
      await send(server, middle, startUs + middle * workers + 1),
    ];
    const verdicts = [next, late, beside].map(({ accepted }) => accepted).join();
    if (verdicts !== "1,0,1") throw new Error(`new, a copy and new were taken as ${verdicts}`);
    const after = await server.usage();
    const cells = [
      events,
      readyMs,
      before.server.peakMiB,
      next.ms,
      late.ms,
      beside.ms,
      after.server.peakMiB,
      after.engine.cpuMs - before.engine.cpuMs,
    ];
    return `| ${cells.map(whole).join(" | ")} |`;
  } finally {
    await server.close();
  }
}

const rows: string[] = [];
for (const events of sizes) rows.push(await inFolder((dataDir) => measure(dataDir, events)));
await savePage(
  "long-run",
  `# One long run

\`${commandOf("long-run")}\` on ${describeMachine()}.
One XTrack run of ${workers} workers, stored as arrivals of ${arrivalEvents} events, in a folder that is started anew. Each event is sent by HTTP and waited for until it can be queried: the run's next one, a copy of one from its middle, and another one of that time.

| events of the run | start until ready, ms | server MiB after it | next event, ms | copy from the middle, ms | new event beside it, ms | server MiB at the end | engine's processor time for the three, ms |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${rows.join("\n")}
`,
);
