import { describe, expect, test } from "vitest";
import type { GapsAnswer } from "#api/contract/record.ts";
import { suiteApp } from "../support/app.ts";
import { toFrame } from "../support/frames.ts";

const walk = suiteApp();

const octets = { "content-type": "application/octet-stream" };

async function send(frames: readonly Buffer[]): Promise<void> {
  const answer = await walk.post("/v1/xtrack?wait=1", Buffer.concat(frames), octets);
  expect(answer.status).toBe(202);
}

function start(run: string, ts: number, wid?: string): Buffer {
  return toFrame({ type: "run_start", seq: 1, ts, ...(wid === undefined ? {} : { wid }), payload: { run_id: run } });
}

function metric(run: string, seq: number, ts: number, wid?: string): Buffer {
  const payload = { run_id: run, key: "loss", value: seq, step: seq };
  return toFrame({ type: "metric", seq, ts, ...(wid === undefined ? {} : { wid }), payload });
}

async function gaps(run: string): Promise<GapsAnswer> {
  const { status, body } = await walk.get(`/api/v1/runs/${run}/gaps`);
  expect(status).toBe(200);
  return body as GapsAnswer;
}

test("GET /runs/<id> says of each worker when it was last heard of", async () => {
  await send([start("couple", 1000, "w0"), start("couple", 2000, "w1"), metric("couple", 2, 1500, "w0")]);
  await send([metric("couple", 2, 9000, "w1")]);
  const { body } = await walk.get("/api/v1/runs/couple");
  expect(body).toMatchObject({
    worker_list: [
      { worker: "w0", first_ns: "1000000", last_ns: "1500000" },
      { worker: "w1", first_ns: "2000000", last_ns: "9000000" },
    ],
  });
});

describe("GET /runs/<id>/gaps", () => {
  test("counts forty workers apart, each with its own numbers [XT-07]", async () => {
    const frames: Buffer[] = [];
    for (let worker = 0; worker < 40; worker++) {
      const wid = `w${worker}`;
      frames.push(start("forty", 1000, wid));
      // Every worker loses the number that is its own.
      for (let seq = 2; seq <= 60; seq++) if (seq !== worker + 2) frames.push(metric("forty", seq, 1000 + seq, wid));
    }
    await send(frames);
    const { sequences, missing } = await gaps("forty");
    expect(sequences).toHaveLength(40);
    expect(missing).toBe(40);
    expect(sequences.find((one) => one.worker === "w7")).toEqual({
      worker: "w7",
      incarnation: 1,
      first_seq: "1",
      last_seq: "60",
      received: 59,
      duplicates: 0,
      conflicts: 0,
      missing: 1,
      first_ns: "1000000",
      last_ns: "1060000",
      gaps: [{ from_seq: "9", to_seq: "9" }],
    });
  });

  test("closes a gap when the late events come, and counts what came twice [XT-07]", async () => {
    const all = Array.from({ length: 19 }, (_, at) => metric("late", at + 2, 2000 + at));
    await send([start("late", 1999), ...all.slice(0, 4), ...all.slice(12)]);
    expect(await gaps("late")).toMatchObject({
      missing: 8,
      sequences: [{ gaps: [{ from_seq: "6", to_seq: "13" }], last_seq: "20" }],
    });
    await send([...all.slice(6, 14)]);
    expect(await gaps("late")).toMatchObject({
      missing: 2,
      duplicates: 2,
      sequences: [{ gaps: [{ from_seq: "6", to_seq: "7" }] }],
    });
    await send(all);
    expect(await gaps("late")).toMatchObject({ missing: 0, sequences: [{ received: 20, gaps: [], conflicts: 0 }] });
  });

  test("starts over where a run id is used again, and tells two events with one number", async () => {
    await send([start("again", 5000), metric("again", 2, 5001), metric("again", 5, 5004)]);
    await send([start("again", 9000), metric("again", 2, 9001), metric("again", 3, 9002), metric("again", 3, 9003)]);
    const { sequences } = await gaps("again");
    expect(
      sequences.map(({ incarnation, received, missing, conflicts }) => [incarnation, received, missing, conflicts]),
    ).toEqual([
      [1, 3, 2, 0],
      [2, 4, 0, 1],
    ]);
  });

  test("are counted alike in the table of runs, also where two events have one number", async () => {
    await send([start("both", 7000), metric("both", 2, 7001), metric("both", 2, 7002), metric("both", 6, 7003)]);
    await send([metric("both", 6, 7004), metric("both", 9, 7005)]);
    const { missing, sequences } = await gaps("both");
    expect([missing, sequences[0]?.conflicts]).toEqual([5, 2]);
    const { runs } = (await walk.get("/api/v1/runs?filter=id:both&columns=gaps")).body as {
      runs: { integrity: { missing: number }; cells: Record<string, { num: number }> }[];
    };
    expect(runs).toMatchObject([{ integrity: { missing: 5 }, cells: { gaps: { num: 5 } } }]);
  });

  test("is 404 for a run that is not there", async () => {
    expect((await walk.get("/api/v1/runs/nobody/gaps")).status).toBe(404);
  });
});

test("two events of one incarnation with one number are both kept and flagged; another incarnation's are not", async () => {
  const again = toFrame({ type: "log", seq: 2, ts: 1500, payload: { run_id: "pair", level: "info", msg: "second" } });
  await send([start("pair", 1000), metric("pair", 2, 1001), metric("pair", 3, 1002), again]);
  await send([start("pair", 9000), metric("pair", 2, 9001)]);
  const { body } = await walk.get("/api/v1/runs/pair/events");
  const { events } = body as { events: { type: string; seq: string; ts_ns: string; flags: string[] }[] };
  const flagged = events.filter(({ flags }) => flags.includes("seq_conflict"));
  expect(flagged.map(({ type, seq, ts_ns }) => [type, seq, ts_ns]).sort()).toEqual([
    ["log", "2", "1500000"],
    ["metric", "2", "1001000"],
  ]);
  expect((await gaps("pair")).sequences.map(({ conflicts }) => conflicts)).toEqual([1, 0]);
});
