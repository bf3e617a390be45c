// What one mark, scope or event costs the program that makes it, in a tight loop, next to an empty function.
// The figures include everything: taking the time, keeping the record, encoding it, and writing the batch or frame.
// Usage: node bench/emit.ts [--save]   (--save rewrites bench/results/emit.md)

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { health, mark, markInt, profile, scope, shutdown, span, steps } from "#emit/cirron.ts";
import { createTraceWriter } from "#emit/semantiva.ts";
import { startRun } from "#emit/xtrack.ts";
import { describeMachine } from "./support/server.ts";
import { savePage } from "./support/words.ts";

const rounds = 7;
let sink = 0;

/** This thread's own time on a processor: what other programs on the machine do does not count. */
function readCpuNs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) * 1000;
}

/**
 * A row of the page: time of a turn, the call of it included, at the median and the best of several rounds after one to
 * warm up.
 */
function measure(what: string, count: number, act: (turn: number) => void): string {
  return measureLoop(what, count, () => {
    for (let i = 0; i < count; i++) act(i);
  });
}

function measureLoop(what: string, count: number, loop: () => void): string {
  loop();
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const beganNs = readCpuNs();
    loop();
    times.push((readCpuNs() - beganNs) / count);
  }
  times.sort((a, b) => a - b);
  return `| ${what} | ${times[rounds >> 1]?.toFixed(0)} | ${times[0]?.toFixed(0)} |`;
}

function turn(i: number): void {
  sink += i;
}

const folder = mkdtempSync(join(tmpdir(), "emit-bench-"));
const rows: string[] = [];
try {
  profile({ path: join(folder, "cirron"), spoolBytesMax: 200e6 });
  rows.push(
    measure("an empty function", 1e6, turn),
    measure("mark(name, value)", 50_000, (i) => mark("loss", 1 / (i + 1))),
    measure("mark(name, value, { step })", 50_000, (i) => mark("loss", 1 / (i + 1), { step: i })),
    measure("markInt(name, value)", 50_000, (i) => markInt("correct", i)),
    measure("scope(name, fn)", 25_000, (i) => scope("step", () => turn(i))),
    measure("scope(name, fn, { index, attrs })", 25_000, (i) =>
      scope("step", () => turn(i), { index: i, attrs: { lr: 0.1 } }),
    ),
    measure("using span(name)", 25_000, (i) => {
      using _ = span("step");
      turn(i);
    }),
    measureLoop("a turn of steps()", 25_000, () => {
      for (const i of steps(25_000)) turn(i);
    }),
    measure("scope with one mark inside", 25_000, (i) => scope("step", () => mark("loss", 1 / (i + 1)))),
  );
  const { overheadMs, marks, spans } = health();
  await shutdown();
  profile({ enabled: false });
  rows.push(measure("mark, when profile({ enabled: false })", 500_000, (i) => mark("loss", i)));
  await shutdown();

  const run = startRun({ transport: { kind: "file", path: join(folder, "events.bin") }, source: false, env: false });
  rows.push(
    measure("XTrack metric(key, value, { step }) to a file", 25_000, (i) =>
      run.metric("loss", 1 / (i + 1), { step: i }),
    ),
  );
  await run.end();
  const trace = createTraceWriter({ path: join(folder, "trace.jsonl") });
  const pipeline = trace.pipelineStart({ plan: { nodes: [{ processor: "p" }] } });
  rows.push(measure("Semantiva node() to a file", 2000, (i) => trace.node(pipeline, 0, { input: i }, () => i)));
  trace.close();
  await report(
    `The SDK itself estimates ${Math.round(overheadMs)} ms for the ${marks + spans} records of the Cirron rows.`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function report(note: string): Promise<void> {
  const text = [
    "# What the SDK costs",
    "",
    "Nanoseconds of processor time per call in a tight loop, encoding and writing to disk included; median and best of 7 rounds.",
    "`node bench/emit.ts --save` measures again.",
    "",
    "| call | median ns | best ns |",
    "| --- | ---: | ---: |",
    ...rows,
    "",
    note,
    "",
    `${describeMachine()}. ${new Date().toISOString().slice(0, 10)}.`,
    "",
  ].join("\n");
  await savePage("emit", text);
}

if (sink < 0) console.log(sink);
