// No call of the SDK throws into the program, whatever it is given: arguments that no types allow, and objects that
// throw when they are looked at. What can be recorded is.

import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makeFolder } from "../support/folder.ts";
import { moduleUrl, startProgram } from "./sandbox.ts";

/** Calls `fn` with every odd argument and notes what it throws or rejects with. */
const harness = `
const bad = new Set();
const revoked = Proxy.revocable({}, {});
revoked.revoke();
const throws = (names) =>
  Object.defineProperties({}, Object.fromEntries(names.map((name) =>
    [name, { enumerable: true, get() { throw new Error("getter of " + name); } }])));
const circle = {};
circle.self = circle;
const odd = [undefined, null, 0, -1, 1.5, NaN, 2n ** 70n, "", "x", "\\ud800", true, Symbol("s"), () => 1, [], [[]], {},
  throws(["step", "phase", "msg", "path", "status", "index", "attrs", "plan", "x", "error", "type", "timeoutMs"]),
  revoked.proxy, circle, new Date(NaN), new Map([[1, 2]]), Object.create(null), { toString() { throw new Error("text"); } },
  { toJSON() { throw new Error("json"); } }, new Proxy({}, { get() { throw new Error("get"); } }), new Float32Array(2)];
function note(name, error) { bad.add(name + ": " + String(error?.message ?? error)); }
function every(name, fn) {
  for (const value of odd) {
    try {
      const result = fn(value);
      if (result instanceof Promise) result.catch((error) => note(name, error));
    } catch (error) { note(name, error); }
  }
}
const fields = (name, keys, fn) => { for (const key of keys) every(name + "." + key, (value) => fn({ [key]: value })); };
const tell = async () => { await new Promise((done) => setTimeout(done, 100)); console.log(JSON.stringify([...bad])); };
`;

async function runOdd(program: string, env: Record<string, string> = {}) {
  const folder = makeFolder();
  const { code, stdout, stderr } = await startProgram(folder, harness + program, env).ended;
  expect([code, stdout]).toEqual([0, "[]\n"]);
  return { folder, stderr };
}

test("XTrack takes any arguments, and says which calls it left out", async () => {
  const { folder, stderr } = await runOdd(
    `import { startRun, withRun } from ${JSON.stringify(moduleUrl("src/emit/xtrack.ts"))};
    const run = startRun({ id: "odd", source: false, env: false });
    every("metric", (a) => run.metric(a, a));
    every("metric options", (a) => run.metric("m", 1, a));
    fields("metric", ["step", "epoch", "phase", "batchSize", "agg", "ctx"], (o) => run.metric("m", 1, o));
    every("metricBatch", (a) => run.metricBatch(a, a));
    every("param", (a) => run.param(a, a));
    every("params", (a) => run.params(a));
    every("artifact", (a) => run.artifact(a, a));
    every("checkpoint", (a) => run.checkpoint(a));
    fields("checkpoint", ["path", "step", "metrics", "isBest"], (o) => run.checkpoint({ step: 1, path: "p", ...o }));
    every("status", (a) => run.status(a, a));
    every("log", (a) => run.log(a, a, a));
    every("on", (a) => run.on(a, a));
    every("startRun", (a) => startRun(a).end({ timeoutMs: 1 }));
    fields("startRun", ["id", "name", "tags", "params", "workerId", "transport", "apiKey", "source", "env", "bufferBytesMax",
      "drop", "spool", "signals"], (o) => startRun({ source: false, env: false, ...o }).end({ timeoutMs: 1 }));
    startRun({ signals: ["SIGKILL"] }).end({ timeoutMs: 1 });
    every("end", (a) => startRun({ source: false, env: false }).end(a));
    fields("end", ["status", "error", "finalMetrics", "timeoutMs"], (o) => startRun({ source: false, env: false }).end(o));
    every("withRun", (a) => withRun(a, () => 1));
    run.metric("last", 1, { step: 7, ctx: { note: null } });
    run.params({ nothing: null });
    await run.end();
    await tell();`,
    { XTRACK_TRANSPORT: "file", XTRACK_FILE: "events.bin", XTRACK_SPOOL: "off" },
  );
  expect(stderr).toContain("run.checkpoint() was left out: ");
  const events = readFileSync(`${folder}/events.bin`, "latin1");
  expect(events).toContain('"key":"last","value":1,"step":7,"ctx":{"note":null}}');
  expect(events).toContain('"key":"nothing","value":null}');
  // Options that are null or cannot be read are none, and the value is there all the same.
  expect(events.split('"key":"m","value":1').length).toBeGreaterThan(26 * 7);
});

test("Cirron takes any arguments, and gives the program back what it returned and threw", async () => {
  const { folder } = await runOdd(
    `import * as cirron from ${JSON.stringify(moduleUrl("src/emit/cirron.ts"))};
    const { scope, span, mark, markInt, snapshot, watch, inference, epochs, batches, profile, shutdown } = cirron;
    profile({ path: "traces" });
    for (const b of odd) {
      every("mark", (a) => mark(a, b, a, a));
      every("markInt", (a) => markInt(a, b));
      every("scope", (a) => { if (scope(a, () => 5, b) !== 5) throw new Error("lost what it returned"); });
      every("span", (a) => { const s = span(a, b); s.mark(a, b); s.set(a); s.setGpuNs(a); s.end(); });
      every("snapshot", (a) => { snapshot(a, b); snapshot({ w: a }, b); snapshot({ w: { data: a, shape: b, dtype: a } }); });
    }
    every("watch", (a) => watch(a));
    every("inference", (a) => inference(() => 1, a)());
    fields("inference", ["attrs"], (o) => inference(() => 1, o)());
    for (const a of odd) if (!Object.is(inference(() => a)(), a) && typeof a !== "object") bad.add("inference result");
    every("epochs", (a) => { if ([...epochs(2, a)].length !== 2) throw new Error("lost an epoch"); });
    fields("epochs", ["from"], (o) => [...epochs(1, o)]);
    if ([...batches("ab")].join() !== "a,b") bad.add("batches of a text");
    const mine = Object.create(null);
    try { scope("s", () => { throw mine; }); } catch (error) { if (error !== mine) bad.add("another error"); }
    await shutdown();
    for (const a of odd) {
      every("profile", () => profile(a)); await shutdown({ timeoutMs: 1 });
      for (const key of ["path", "snapshots", "sampleRate", "flushIntervalMs", "spoolBytesMax", "ingestPath", "runId", "rank",
        "attrs", "signals"]) {
        every("profile." + key, () => profile({ [key]: a })); mark("m", 1); await shutdown({ timeoutMs: 1 });
      }
      every("shutdown", () => shutdown(a));
    }
    await tell();`,
  );
  expect(existsSync(`${folder}/traces/spool`)).toBe(true);
});

test("Semantiva takes any arguments, and counts the records that are lost by them", async () => {
  await runOdd(
    `import { createTraceWriter, float } from ${JSON.stringify(moduleUrl("src/emit/semantiva.ts"))};
    every("createTraceWriter", (a) => createTraceWriter(a).close());
    fields("createTraceWriter", ["path", "detail", "flush"], (o) => createTraceWriter({ path: "t.jsonl", ...o }).close());
    const trace = createTraceWriter({ path: "t.jsonl", detail: "all" });
    const plan = { nodes: [{ processor: "A" }, { processor: "B" }] };
    const run = trace.pipelineStart({ plan });
    every("pipelineStart", (a) => trace.pipelineStart(a).nodeIds.length);
    fields("pipelineStart", ["plan", "runId", "pipelineId", "launch", "index", "context", "meta"], (o) =>
      trace.pipelineStart({ plan, ...o }));
    fields("plan", ["nodes", "edges"], (o) => trace.pipelineStart({ plan: { ...plan, ...o } }));
    every("node run", (a) => { if (trace.node(a, a, a, () => 5) !== 5) throw new Error("lost what it returned"); });
    fields("node", ["input", "parameters", "context", "reads", "tags"], (o) => trace.node(run, 0, o, () => 1));
    for (const a of odd) if (typeof a !== "object" && !Object.is(trace.node(run, 0, {}, () => a), a)) bad.add("node result");
    every("nodeEvent", (a) => trace.nodeEvent(run, a));
    every("pipelineEnd", (a) => { trace.pipelineEnd(run, a); trace.pipelineEnd(a); });
    every("runSpaceStart", (a) => trace.runSpaceStart(a).id.length);
    fields("runSpaceStart", ["spec", "totalRuns", "inputs", "idempotencyKey", "launchId", "attempt"], (o) =>
      trace.runSpaceStart({ spec: {}, combineMode: "combinatorial", totalRuns: 1, ...o }));
    every("runSpaceEnd", (a) => { trace.runSpaceEnd(a); trace.runSpaceEnd({ id: "l", attempt: 1 }, a); });
    every("float", (a) => float(a));
    if (!(trace.lost > 0)) bad.add("nothing is counted");
    trace.close();
    await tell();`,
  );
});
