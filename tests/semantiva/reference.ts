// The aggregation rules written down a second time, as plainly as the notes state them and without any of our query
// code, to hold the real implementation against. It takes records one by one, in order of arrival, and trusts them.

import { parseJson } from "#base/json/parse.ts";
import type { JsonObject } from "#base/json/value.ts";

interface Seen {
  starts: JsonObject[];
  ends: JsonObject[];
  sers: Map<string, JsonObject[]>;
}

export class Reference {
  readonly runs = new Map<string, Seen>();
  readonly launches = new Map<string, { starts: JsonObject[]; ends: JsonObject[]; runs: Set<string> }>();

  take(line: string): void {
    const parsed = parseJson(line);
    if (!parsed.ok) return;
    const record = parsed.value as JsonObject;
    const get = (key: string) => record[key] as never;
    switch (record["record_type"]) {
      case "pipeline_start":
        this.run(get("run_id")).starts.push(record);
        if (get("run_space_launch_id") !== undefined && get("run_space_attempt") !== undefined) {
          this.launch(get("run_space_launch_id"), get("run_space_attempt")).runs.add(get("run_id"));
        }
        break;
      case "pipeline_end":
        this.run(get("run_id")).ends.push(record);
        break;
      case "run_space_start":
        this.launch(get("run_space_launch_id"), get("run_space_attempt")).starts.push(record);
        break;
      case "run_space_end":
        this.launch(get("run_space_launch_id"), get("run_space_attempt")).ends.push(record);
        break;
      case "ser": {
        const { run_id, node_id } = record["identity"] as { run_id: string; node_id: string };
        const { sers } = this.run(run_id);
        sers.set(node_id, [...(sers.get(node_id) ?? []), record]);
        break;
      }
      default:
    }
  }

  judgeRun(runId: string): unknown {
    const run = this.runs.get(runId) as Seen;
    const has_start = run.starts.length > 0;
    const has_end = run.ends.length > 0;
    const problems: string[] = [];
    if (!has_start) problems.push("missing_pipeline_start");
    if (!has_end) problems.push("missing_pipeline_end");
    const [from, to] = this.span(run);
    if (from !== undefined && to !== undefined && from > to) problems.push("start_time_gt_end_time");
    const spec = run.starts.at(-1)?.["pipeline_spec_canonical"] as { nodes?: { node_uuid: string }[] } | undefined;
    const expected = new Set((spec?.nodes ?? []).map((node) => node.node_uuid));
    const observed = [...run.sers.keys()];
    const known = expected.size > 0;
    const matched = observed.filter((id) => expected.has(id)).length;
    const terminal = ["succeeded", "error", "skipped", "cancelled"];
    return {
      run_id: runId,
      status: has_start && has_end ? "complete" : has_start || has_end ? "partial" : "invalid",
      problems,
      missing_nodes: [...expected].filter((id) => !run.sers.has(id)).sort(),
      orphan_nodes: known ? observed.filter((id) => !expected.has(id)).sort() : [],
      nonterminal_nodes: observed
        .filter((id) => !terminal.includes(run.sers.get(id)?.at(-1)?.["status"] as string))
        .sort(),
      summary: {
        nodes_total_expected: known ? expected.size : null,
        nodes_observed: observed.length,
        coverage_pct: known ? Math.round((matched / expected.size) * 10000) / 100 : null,
        has_start,
        has_end,
      },
    };
  }

  judgeLaunch(key: string): unknown {
    const launch = this.launches.get(key) as NonNullable<ReturnType<typeof this.launches.get>>;
    const [id, attempt] = JSON.parse(key) as [string, number];
    const runs_by_status = { complete: 0, partial: 0, invalid: 0 };
    for (const run of launch.runs) {
      runs_by_status[(this.judgeRun(run) as { status: keyof typeof runs_by_status }).status]++;
    }
    const problems: string[] = [];
    if (launch.starts.length === 0) problems.push("missing_run_space_start");
    if (launch.ends.length === 0) problems.push("missing_run_space_end");
    let status = "partial";
    if (launch.starts.length === 0 && launch.runs.size > 0) status = "invalid";
    else if (problems.length === 0 && runs_by_status.partial + runs_by_status.invalid === 0) status = "complete";
    return {
      run_space_launch_id: id,
      run_space_attempt: attempt,
      status,
      problems,
      summary: {
        runs_total: launch.runs.size,
        runs_by_status,
        planned_run_count: launch.starts.at(-1)?.["run_space_planned_run_count"] ?? null,
      },
    };
  }

  /** Start and end as written; when one is missing, the nodes' times widen both. */
  private span(run: Seen): [string | undefined, string | undefined] {
    const stamps = (records: JsonObject[]) => records.flatMap((record) => (record["timestamp"] as string) || []).sort();
    let from = stamps(run.starts)[0];
    let to = stamps(run.ends).at(-1);
    if (from === undefined || to === undefined) {
      const timings = [...run.sers.values()].flat().map((ser) => ser["timing"] as Record<string, string>);
      const starts = timings.flatMap((timing) => timing["started_at"] || []);
      const ends = timings.flatMap((timing) => [timing["started_at"], timing["finished_at"]].flatMap((t) => t || []));
      from = [...starts, ...(from === undefined ? [] : [from])].sort()[0];
      to = [...ends, ...(to === undefined ? [] : [to])].sort().at(-1);
    }
    return [from, to];
  }

  private run(id: string): Seen {
    const run = this.runs.get(id) ?? { starts: [], ends: [], sers: new Map() };
    this.runs.set(id, run);
    return run;
  }

  private launch(id: string, attempt: number) {
    const key = JSON.stringify([id, attempt]);
    const launch = this.launches.get(key) ?? { starts: [], ends: [], runs: new Set<string>() };
    this.launches.set(key, launch);
    return launch;
  }
}
