// What it costs a collector to hear of what another stores: next to nothing, unless the two have to do with each other.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nowNs } from "#base/clock.ts";
import type { ComponentRow } from "#intake/cirron/component-state.ts";
import type { Collector } from "#server/collector/collector.ts";
import { type PeerBatch, takeAwaited, takePeerBatches, toPeerComponent } from "#server/collector/peer-batches.ts";
import { BatchNews, type BatchTidings } from "#server/peers/batch-news.ts";
import { readGroupRows } from "#store/reader/state-rows.ts";
import type { TestApp } from "../support/app.ts";
import { askStore } from "../support/ask-store.ts";
import { type BatchProcess, hex, toBatchText } from "../support/cirron-batch.ts";
import { countQuestions } from "../support/counted-store.ts";
import { natsPath, openPair, type Pair } from "../support/several.ts";

let pair: Pair;
const minuteNs = 60_000_000_000n;
/** Each process is another, and in no test comes twice. */
let lastPid = 1000;
const newProcess = (pid = ++lastPid): BatchProcess => ({ pid, thread: ++lastPid });

/** A step that hangs on a root that has not come. */
async function postStep(app: TestApp, name: string, process: BatchProcess, root = `${name}r`): Promise<void> {
  const text = toBatchText(name, [{ id: `${name}s`, parent: root, name: "step", at: 1 }], process);
  expect((await app.post("/v1/traces?wait=1", text)).status).toBe(202);
}

const batchOf = (name: string): PeerBatch => ({ batchId: hex(name), groupKey: `default/c/${hex(name)}` });
const isOfRows = (sql: string): boolean => /\.(spans|marks|snapshots)\b/.test(sql);
const runOf = async (app: TestApp, span: string) => {
  const sql = `SELECT run_id FROM tributary.groups FINAL WHERE group_key = 'default/c/${hex(span)}'`;
  return (await askStore<{ run_id: string }>(app.app.collector.store, { sql }))[0]?.run_id;
};

/** What a collector tells of these batches, without a bus between. */
async function tidingsOf({ store }: Collector, names: readonly string[]): Promise<BatchTidings> {
  const batches = names.map(batchOf);
  const rows: ComponentRow[] = await readGroupRows(
    store,
    "cirron_components",
    batches.map(({ groupKey }) => groupKey),
  );
  return { after: 0, to: 1, batches, components: rows.map(toPeerComponent) };
}

/** The news of a collector, whose tasks are done one after the other. */
function newsOf(collector: Collector): { readonly news: BatchNews; done(): Promise<void> } {
  let tasks = Promise.resolve();
  const read = (_: string, task: () => Promise<void>): void => {
    tasks = tasks.then(task);
  };
  return { news: new BatchNews(collector, { read, onTaken: () => undefined }), done: () => tasks };
}

describe.skipIf(natsPath === undefined)("what another collector has stored", () => {
  beforeAll(async () => {
    pair = await openPair();
    await pair.nats.kill();
  });
  afterAll(() => pair?.remove());

  test("is looked for by the names of groups, and no row of this collector's own is read for that", async () => {
    for (const at of [0, 1, 2]) await postStep(pair.b, `mine${at}`, newProcess());
    await postStep(pair.a, "theirs", newProcess());
    await pair.a.app.collector.drained();
    const { collector, questions } = countQuestions(pair.b.app.collector);
    const { news } = newsOf(collector);
    const since = nowNs() - 10n * minuteNs;
    for (const wasCutOff of [true, false]) await news.catchUp(since, since, wasCutOff);
    news.close();
    expect(questions.filter(isOfRows)).toEqual([]);
    expect(questions.length).toBeGreaterThan(4);
  });

  test("is taken in without a question when it is of other processes", async () => {
    await postStep(pair.b, "own0", newProcess());
    const names = ["far0", "far1", "far2"];
    for (const name of names) await postStep(pair.a, name, newProcess());
    const { collector, questions } = countQuestions(pair.b.app.collector);
    const { batches, components } = await tidingsOf(collector, names);
    questions.length = 0;
    expect(await takePeerBatches(collector, batches, components)).toEqual({ related: [], arePutOff: false });
    expect(questions).toEqual([]);
    const { ledger } = collector.applier.state.cirron.of("default");
    expect(names.map((name) => ledger.mayBeStored(hex(name)))).toEqual([true, true, true]);
  });

  test("is taken in without a question when every process has number 1 and hangs on a root of its own", async () => {
    for (const at of [0, 1, 2]) await postStep(pair.b, `one-b${at}`, newProcess(1));
    const names = ["one-a0", "one-a1"];
    for (const name of names) await postStep(pair.a, name, newProcess(1));
    const { collector, questions } = countQuestions(pair.b.app.collector);
    const { batches, components } = await tidingsOf(collector, names);
    questions.length = 0;
    expect((await takePeerBatches(collector, batches, components)).related).toEqual([]);
    expect(questions).toEqual([]);
  });

  test("is found to be one process with what is here by what was told of it", async () => {
    const process = newProcess();
    await postStep(pair.b, "same-b", process, "same-r");
    await postStep(pair.a, "same-a", process, "same-q");
    const { collector } = pair.b.app;
    const { batches, components } = await tidingsOf(collector, ["same-a"]);
    expect((await takePeerBatches(collector, batches, components)).related).toEqual(batches);
    await collector.drained();
    expect(await runOf(pair.b, "same-a")).toBe(await runOf(pair.b, "same-b"));
  });

  test("becomes one run with what came here after it was heard of", async () => {
    const process = newProcess();
    await postStep(pair.a, "first", process, "moved-r");
    const { collector } = pair.b.app;
    const { news, done } = newsOf(collector);
    news.hear(await tidingsOf(collector, ["first"]), pair.a.app.collector.id);
    await done();
    await postStep(pair.b, "second", process, "moved-q");
    expect(await runOf(pair.b, "first")).not.toBe(await runOf(pair.b, "second"));
    // What was heard is not read again, but looked at again.
    await news.catchUp(nowNs(), nowNs() - minuteNs, false);
    news.close();
    await collector.drained();
    expect(await runOf(pair.b, "first")).toBe(await runOf(pair.b, "second"));
  });

  test("is found by the spans that rows here wait for, of whatever process it is", async () => {
    await postStep(pair.b, "child", newProcess(), "forks");
    await postStep(pair.a, "fork", newProcess());
    const { collector } = pair.b.app;
    await takeAwaited(collector);
    await collector.drained();
    expect(await runOf(pair.b, "fork")).toBe(await runOf(pair.b, "child"));
  });
});
