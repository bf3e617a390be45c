import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { LaunchCompleteness, RunCompleteness } from "#api/contract/pipeline.ts";
import { parseJson } from "#base/json/parse.ts";
import { atPointer } from "#base/json/pointer.ts";
import { aggregateRun, toCompletenessFacts } from "#query/semantiva/aggregate.ts";
import { judgeLaunch, judgeRun } from "#query/semantiva/completeness.ts";
import { aggregateLaunch, toLaunchFacts } from "./aggregate-launch.ts";
import { createRandom, type Fed, feed, fixtures, readLines, shuffle, traceFiles } from "./feed.ts";
import { Reference } from "./reference.ts";

const samples = ["plain_file", "error_midway", "edge_values", "rs_combinatorial_file", "rs_by_position_dir"];

interface Judged {
  readonly runs: Map<string, RunCompleteness>;
  readonly launches: Map<string, LaunchCompleteness>;
}

function aggregateRuns(fed: Fed) {
  const ids = new Set([...fed.lifecycle, ...fed.nodes].map(({ run_id }) => run_id).filter((id) => id !== ""));
  return Array.from(ids, (id) =>
    aggregateRun(
      id,
      fed.lifecycle.filter((row) => row.run_id === id),
      fed.nodes.filter((row) => row.run_id === id),
    ),
  );
}

function aggregateLaunches(fed: Fed) {
  const keys = new Set(
    fed.lifecycle
      .filter(({ launch_id, attempt }) => launch_id !== "" && attempt !== null)
      .map(({ launch_id, attempt }) => JSON.stringify([launch_id, attempt])),
  );
  return Array.from(keys, (key) => {
    const [id, attempt] = JSON.parse(key) as [string, number];
    return aggregateLaunch(id, attempt, fed.lifecycle);
  });
}

/** finalize_all over what was fed. */
function judge(fed: Fed): Judged {
  const runs = new Map<string, RunCompleteness>();
  for (const run of aggregateRuns(fed)) {
    const facts = toCompletenessFacts(run);
    if (facts !== null) runs.set(run.run_id, judgeRun(facts));
  }
  const launches = new Map<string, LaunchCompleteness>();
  for (const launch of aggregateLaunches(fed)) {
    const facts = toLaunchFacts(launch, (id) => runs.get(id)?.status ?? "invalid");
    if (facts === null) continue;
    launches.set(JSON.stringify([facts.launch_id, facts.attempt]), judgeLaunch(facts));
  }
  return { runs, launches };
}

function expectEqualToReference(chunks: readonly string[]): void {
  const reference = new Reference();
  const seen = new Set<string>();
  for (const line of chunks.flatMap((chunk) => chunk.split("\n"))) {
    // A line is a record once, however often it comes.
    if (!seen.has(line)) reference.take(line);
    seen.add(line);
  }
  const { runs, launches } = judge(feed(chunks));
  expect(new Set(runs.keys())).toEqual(new Set(reference.runs.keys()));
  expect(new Set(launches.keys())).toEqual(new Set(reference.launches.keys()));
  for (const [id, verdict] of runs) expect(verdict).toEqual(reference.judgeRun(id));
  for (const [key, verdict] of launches) expect(verdict).toEqual(reference.judgeLaunch(key));
}

interface Expected {
  readonly runs: RunCompleteness[];
  readonly launches: LaunchCompleteness[];
  readonly run_aggregates: { readonly run_id: string; readonly nodes: Record<string, object> }[];
  readonly launch_aggregates: { readonly run_space_launch_id: string; readonly pipelines: string[] }[];
}

function readExpected(path: string): Expected {
  return JSON.parse(readFileSync(`${fixtures}/${path}`, "utf8")) as Expected;
}

function byRun<T extends { run_id: string }>(list: readonly T[]): Record<string, T> {
  return Object.fromEntries(list.map((item) => [item.run_id, item]));
}

function expectSample(fed: Fed, expected: Expected): void {
  const { runs, launches } = judge(fed);
  expect(Object.fromEntries(runs)).toEqual(byRun(expected.runs));
  expect([...launches.values()]).toEqual(expected.launches);
  const aggregates = aggregateRuns(fed).map((run) => ({
    run_id: run.run_id,
    pipeline_id: run.pipeline_id,
    pipeline_spec_canonical: { nodes: run.expected },
    run_space_launch_id: run.run_space_launch_id,
    run_space_attempt: run.run_space_attempt,
    saw_start: run.saw_start,
    saw_end: run.saw_end,
    start_timestamp: run.start_timestamp,
    end_timestamp: run.end_timestamp,
    nodes: Object.fromEntries(
      Array.from(run.nodes.values(), ({ last, ...node }) => {
        const parsed = parseJson(fed.payloads.get(last.event_id) ?? "");
        const record = parsed.ok ? parsed.value : null;
        const last_error = node.last_status === "error" ? (atPointer(record, "/error") ?? null) : null;
        return [node.node_id, { ...node, timing: atPointer(record, "/timing"), last_error }];
      }),
    ),
  }));
  expect(byRun(aggregates)).toEqual(byRun(expected.run_aggregates));
  const launchAggregates = aggregateLaunches(fed).map(({ pipelines, run_space_launch_id, ...launch }) => ({
    run_space_launch_id,
    pipelines,
    ...{ saw_start: launch.saw_start, saw_end: launch.saw_end, planned_run_count: launch.planned_run_count },
  }));
  expect(launchAggregates).toMatchObject(
    expected.launch_aggregates.map(({ run_space_launch_id, pipelines }) => ({ run_space_launch_id, pipelines })),
  );
}

describe("the verdicts of the format's own aggregator", () => {
  const files = samples.flatMap((sample) => traceFiles(sample));

  it.each(files)("are ours for %s [ST-18]", (path) => {
    expectSample(feed([`${readLines(path).join("\n")}\n`]), readExpected(`${path}.expected.json`));
  });

  it("are ours for a folder with a file per run, in any order of the files (S9) [ST-18]", () => {
    const expected = readExpected("rs_by_position_dir/expected_all.json");
    const texts = traceFiles("rs_by_position_dir").map((path) => readLines(path).join("\n"));
    expectSample(feed(texts), expected);
    expectSample(feed(texts.toReversed()), expected);
  });

  it.each(files)("are ours for %s line by line, shuffled and repeated [ST-18]", (path) => {
    const lines = readLines(path);
    for (let seed = 1; seed <= 5; seed++) {
      const random = createRandom(seed);
      expectSample(feed(shuffle([...lines, ...lines], random)), readExpected(`${path}.expected.json`));
    }
  });
});

describe("the rules, written down a second time,", () => {
  const everything = samples.flatMap((sample) => traceFiles(sample).flatMap((path) => readLines(path)));

  it("agree on every truncation of every sample [ST-18]", () => {
    for (const path of samples.flatMap((sample) => traceFiles(sample))) {
      const lines = readLines(path);
      for (let end = 0; end <= lines.length; end++) {
        expectEqualToReference([lines.slice(0, end).join("\n")]);
        expectEqualToReference([lines.slice(end).join("\n")]);
      }
    }
  });

  it("agree on random subsets of all samples at once, shuffled, repeated and interleaved [ST-18]", () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = createRandom(seed);
      const keep = random();
      const some = everything.filter(() => random() < keep);
      const again = some.filter(() => random() < 0.3);
      expectEqualToReference(shuffle([...some, ...again], random));
    }
  });

  it("agree on retried nodes, a second attempt, foreign nodes and clocks that run backwards [ST-12, ST-18]", () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = createRandom(seed);
      expectEqualToReference(mutate(random));
    }
  });
});

/** Records in file order with rising times, so that the last of a node is the same by time and by arrival. */
function mutate(random: () => number): string[] {
  const lines = readLines("rs_combinatorial_file/run_space_demo.trace.jsonl").filter(() => random() < 0.8);
  let clock = 0;
  const rising = () => new Date(1794710998000 + ++clock * 10).toISOString();
  return lines.flatMap((line) => {
    const retimed = line.replace(/"started_at": "[^"]+"/, () => `"started_at": "${rising()}"`);
    const out = [retimed];
    const pick = random();
    if (pick < 0.1)
      out.push(
        retimed
          .replace('"status": "succeeded"', '"status": "error"')
          .replace(/"started_at": "[^"]+"/, () => `"started_at": "${rising()}"`),
      );
    else if (pick < 0.15)
      out.push(retimed.replace(/"node_id": "[^"]+"/, '"node_id": "foreign"').replace("a956b817", "a956b818"));
    else if (pick < 0.2) out[0] = retimed.replace('"run_space_attempt": 1', '"run_space_attempt": 2');
    else if (pick < 0.3) out[0] = retimed.replace(/"timestamp": "2026/, '"timestamp": "2031');
    else if (pick < 0.4) out[0] = retimed.replace(/, "timestamp": "[^"]+"/, "");
    else if (pick < 0.45) out.push('{"record_type": "novel", "run_id": "nobody", "schema_version": 1}');
    return out;
  });
}

it("keeps retries, attempts and launches that are launched again apart (S10) [ST-12]", () => {
  const lines = readLines("rs_combinatorial_file/run_space_demo.trace.jsonl");
  const again = lines.map((line) =>
    line.replaceAll("run-", "again-").replaceAll("2026-11-15T02:49", "2026-11-15T03:49").replace('"seq": ', '"seq": 1'),
  );
  const retry = lines.map((line) =>
    line.replaceAll("run-", "retry-").replace('"run_space_attempt": 1', '"run_space_attempt": 2'),
  );
  const { runs, launches } = judge(feed([...lines, ...again, ...retry]));
  expect(runs.size).toBe(24);
  expect(
    [...launches.values()].map(({ run_space_attempt, summary }) => [run_space_attempt, summary.runs_total]),
  ).toEqual([
    [1, 16],
    [2, 8],
  ]);
});

it("takes a run that stopped without its end as partial, whatever stopped it (S7)", () => {
  const lines = readLines("plain_file/trace.ser.jsonl");
  const [start, ...rest] = lines as [string, ...string[]];
  const only = (some: string[]) => [...judge(feed(some)).runs.values()][0];
  expect(only([start])).toMatchObject({
    status: "partial",
    problems: ["missing_pipeline_end"],
    missing_nodes: { length: 6 },
  });
  expect(only([start, ...rest.slice(0, 4)])).toMatchObject({ status: "partial", summary: { coverage_pct: 66.67 } });
  expect(only(rest.slice(0, 4))).toMatchObject({
    status: "invalid",
    problems: ["missing_pipeline_start", "missing_pipeline_end"],
    orphan_nodes: [],
    summary: { nodes_total_expected: null, coverage_pct: null, nodes_observed: 4 },
  });
  const empty = start.replace(
    /"pipeline_spec_canonical": .*?, "record_type"/,
    '"pipeline_spec_canonical": {"nodes": []}, "record_type"',
  );
  expect(only([empty, lines.at(-1) as string])).toMatchObject({
    status: "complete",
    problems: [],
    summary: { nodes_total_expected: null, nodes_observed: 0 },
  });
});
