// Runs that died, and what is said of them: recorded ones, and programs that really die under `tributary run`.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PostMortem } from "#api/contract/post-mortem.ts";
import { runInTest } from "#cli/run-cli.testing.ts";
import { suiteApp } from "../support/app.ts";
import { hex, toBatchText } from "../support/cirron-batch.ts";
import { suiteFolder } from "../support/folder.ts";
import { toFrame } from "../support/frames.ts";
import { toPickle } from "../support/pickle.ts";
import { makeSampleFolder, profiledRun } from "../web/sample.ts";

const main = new URL("../../src/main.ts", import.meta.url).pathname;
const walk = suiteApp(async () => ({ dataDir: await makeSampleFolder() }));
const folder = suiteFolder();

async function postMortemOf(run: string): Promise<PostMortem> {
  await walk.get("/readyz?drained=1");
  const { status, body } = await walk.get(`/api/v1/runs/${run}/post-mortem`);
  expect(status).toBe(200);
  return body as PostMortem;
}

/** Runs a program under `tributary run` to its end. */
async function runProgram(id: string, program: string): Promise<number | null> {
  const file = join(folder, `${id}.cjs`);
  writeFileSync(file, program);
  const args = [main, "run", "--server", walk.app.url, "--data", join(folder, "data"), "--run-id", id, "--quiet"];
  const child = spawn(process.execPath, [...args, "--", process.execPath, file], { cwd: folder, stdio: "ignore" });
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
}

test("the recorded run that failed ran out of memory, and its traceback is there", async () => {
  const { body } = await walk.get(`/api/v1/runs?filter=${encodeURIComponent('name = "gpt-fails"')}`);
  const id = (body as { runs: { id: string }[] }).runs[0]?.id ?? "";
  const found = await postMortemOf(id);
  expect(found).toMatchObject({ cause: "out_of_memory", text: "It ran out of the GPU's memory.", last_step: "40" });
  expect(found.traceback).toContain("RuntimeError: CUDA out of memory");
  const shown = await runInTest(["post-mortem", id, "--server", walk.app.url]);
  expect(shown.out).toContain("It ran out of the GPU's memory.");
  expect(shown.out).toContain("Last metrics");
});

test("what is not finite comes first among the last metrics", async () => {
  const { body } = await walk.get(`/api/v1/runs?filter=${encodeURIComponent('name = "gpt-diverges-nan"')}`);
  const found = await postMortemOf((body as { runs: { id: string }[] }).runs[0]?.id ?? "");
  expect(found.cause).toBe("completed");
  const odd = found.metrics.map(({ nan, pos_inf, neg_inf }) => nan + pos_inf + neg_inf > 0);
  expect(odd.slice(0, 3)).toEqual([true, true, true]);
  expect(odd.at(-1)).toBe(false);
});

test("the scope that was open when the profiled run ended is told by what it holds", async () => {
  const found = await postMortemOf(profiledRun);
  expect(found.open.map(({ holds }) => holds)).toContain("160 spans, the last was forward");
  expect(found.workers.map(({ last_step }) => last_step)).toContain("599");
});

test("what each worker last said it was doing stands beside its last sign of life", async () => {
  const event = (wid: string, seq: number, type: string, payload: object) =>
    toFrame({
      type,
      seq,
      ts: 1_794_710_000_000_000 + seq * 1_000_000,
      wid,
      payload: { run_id: "at-work", ...payload },
    });
  const body = Buffer.concat([
    event("w0", 1, "run_start", {}),
    event("w0", 2, "status", { status: "training", msg: "Epoch 5/10" }),
    event("w0", 4, "status", { status: "checkpointing", msg: "step 400" }),
    event("w1", 1, "status", { status: "evaluating" }),
    event("w1", 2, "metric", { key: "loss", value: 1, step: 3 }),
    event("w2", 1, "metric", { key: "loss", value: 1, step: 3 }),
  ]);
  await walk.post("/v1/xtrack", body, { "content-type": "application/octet-stream" });
  const { workers } = await postMortemOf("at-work");
  expect(workers.map(({ worker, doing }) => [worker, doing]).sort()).toEqual([
    ["w0", "checkpointing: step 400"],
    ["w1", "evaluating"],
    ["w2", ""],
  ]);
  const shown = await runInTest(["post-mortem", "at-work", "--server", walk.app.url]);
  expect(shown.out).toContain("checkpointing: step 400");
});

test("what a client said was open is named, unless it came after all", async () => {
  const span = (id: string, parent: string | null, name: string, at: number) => ({ id, parent, name, at });
  const batch = (id: string, spans: ReturnType<typeof span>[], open: string[]) => {
    const told = open.map((name) => ({ id: hex(name), name, parent_id: null, start_ns: 1_794_710_000, rank: 0 }));
    return `${toBatchText(id, spans).slice(0, -1)},"open_spans":${JSON.stringify(told)}}`;
  };
  await walk.post("/v1/runs/cut-off/traces", batch("b1", [span("s1", "epoch 2", "step", 1)], ["epoch 2", "saving"]));
  const found = (await postMortemOf("cut-off")).open.map(({ name, holds }) => [name, holds]);
  expect(found).toEqual([
    ["epoch 2", "one span, the last was step"],
    ["saving", ""],
  ]);
  const late = { ...span("saving", null, "saving", 9) };
  await walk.post("/v1/runs/cut-off/traces", batch("b2", [late], ["epoch 2"]));
  expect((await postMortemOf("cut-off")).open.map(({ name }) => name)).toEqual(["epoch 2"]);
});

test("a program that raises is told with its exit code, its lines and its traceback", async () => {
  const program = `
    console.log("step 11");
    console.error('Traceback (most recent call last):\\n  File "train.py", line 88, in step\\n    loss.backward()\\nValueError: bad shape');
    process.exitCode = 3;
  `;
  expect(await runProgram("raises", program)).toBe(3);
  const found = await postMortemOf("raises");
  expect(found).toMatchObject({
    cause: "exception",
    text: "It raised ValueError: bad shape",
    exit: { code: 3, signal: "" },
    evidence: ["exit code 3"],
  });
  expect(found.traceback.split("\n")).toHaveLength(4);
});

test("a program that is killed is told by its signal", async () => {
  await runProgram("killed", "process.kill(process.pid, 'SIGKILL');");
  expect(await postMortemOf("killed")).toMatchObject({ cause: "killed", exit: { code: null, signal: "SIGKILL" } });
});

test("flight records of a job's ranks are gathered and aligned, and its error file is read", async () => {
  const entry = (seq: number, state: string) => ({
    frames: [{ name: "step", filename: "train.py", line: 88 }],
    process_group: ["0", "default_pg"],
    collective_seq_id: seq,
    profiling_name: "nccl:all_reduce",
    input_sizes: [[1024]],
    input_dtypes: ["Float"],
    state,
    is_p2p: false,
  });
  const dump = (last: number, state: string) =>
    toPickle({
      version: "2.10",
      pg_config: { "0": { name: "0", desc: "default_pg", ranks: "[0, 1]" } },
      entries: [entry(811, "completed"), ...(last === 812 ? [entry(812, state)] : [])],
    }).toString("base64");
  const program = `
    const { writeFileSync } = require("node:fs");
    const write = (rank, text) => writeFileSync(process.env.TORCH_FR_DUMP_TEMP_FILE + rank, Buffer.from(text, "base64"));
    write(0, ${JSON.stringify(dump(812, "started"))});
    write(1, ${JSON.stringify(dump(811, ""))});
    process.exitCode = 1;
  `;
  expect(await runProgram("hangs", program)).toBe(1);
  const found = await postMortemOf("hangs");
  expect(found.cause).toBe("hung_collective");
  expect(found.text).toBe("Rank 1 never joined nccl:all_reduce #812 of the process group 0; Rank 0 waited in it.");
  expect(found.collective).toMatchObject({ ranks: [1], seq: 812, op: "nccl:all_reduce" });

  const report = {
    message: {
      message: "RuntimeError: boom",
      extraInfo: { py_callstack: "Traceback…\\nRuntimeError: boom", timestamp: "1794710000" },
    },
  };
  const fails = `require("node:fs").writeFileSync(process.env.TORCHELASTIC_ERROR_FILE, ${JSON.stringify(JSON.stringify(report))}); process.exitCode = 1;`;
  expect(await runProgram("reports", fails)).toBe(1);
  expect(await postMortemOf("reports")).toMatchObject({
    cause: "exception",
    text: "A worker failed first: RuntimeError: boom",
  });
});

test("what PyTorch wrote of a job over gloo, one of whose ranks fell silent, names the rank and the collective", async () => {
  const recorded = new URL("../fixtures/torch/gloo-hung/", import.meta.url).pathname;
  const program = `
    const { copyFileSync } = require("node:fs");
    for (const rank of [0, 1])
      copyFileSync(${JSON.stringify(recorded)} + "flight_rank_" + rank, process.env.TORCH_FR_DUMP_TEMP_FILE + rank);
    process.exitCode = 1;
  `;
  expect(await runProgram("gloo", program)).toBe(1);
  const found = await postMortemOf("gloo");
  expect([found.cause, found.refused]).toEqual(["hung_collective", []]);
  expect(found.text).toBe("Rank 1 never joined gloo:all_reduce #11 of the process group 0; Rank 0 waited in it.");
  expect(found.collective?.evidence).toEqual(["rank 1: its last was #10", "rank 0: ended"]);
});

test.each([{ entries: "none" }, { entries: [null, 1], groups: { a: 5 } }, { entries: [{ group: 1, seq: "x" }] }])(
  "a flight record that is none, %j, keeps nobody from reading the rest",
  async (payload) => {
    const line = JSON.stringify({ n: 0, type: "flight_record", ts_ns: "1", payload });
    const id = `odd-${Object.keys(payload).length}-${JSON.stringify(payload).length}`;
    const lines = { "content-type": "application/x-ndjson" };
    expect((await walk.post(`/v1/runs/${id}/wrapper?wrapper=${id}&wait=1`, `${line}\n`, lines)).status).toBe(202);
    expect((await postMortemOf(id)).collective).toBeNull();
  },
);

test("a dump that is a program is refused, said so, and not run", async () => {
  const proof = join(folder, "proof");
  const evil = Buffer.from(`cposix\nsystem\n(X${"\x0b\x00\x00\x00"}touch proof0tR.`, "latin1").toString("base64");
  const program = `require("node:fs").writeFileSync(process.env.TORCH_FR_DUMP_TEMP_FILE + 0, Buffer.from("${evil}", "base64"));`;
  expect(await runProgram("evil", program)).toBe(0);
  const found = await postMortemOf("evil");
  expect(found.refused).toEqual([
    "The flight record flight_rank_0 was not read: The pickle wants to load posix.system.",
  ]);
  expect(existsSync(proof)).toBe(false);
});
