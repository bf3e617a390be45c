// Steps of several ranks as Cirron spans, in which each rank computes for its own time and then waits for the slowest.

import type { TestApp } from "./app.ts";
import { hex } from "./cirron-batch.ts";

export interface StepSpan {
  readonly id: string;
  readonly parent: string | null;
  readonly name: string;
  readonly index: number | null;
  readonly rank: number;
  readonly startUs: number;
  readonly endUs: number;
}

export interface StepPlan {
  readonly rank: number;
  readonly steps: number;
  readonly computeMs: number;
  /** From one step to the next: those who are done sooner wait in `all_reduce`. */
  readonly cycleMs: number;
}

export function stepSpans({ rank, steps, computeMs, cycleMs }: StepPlan): StepSpan[] {
  return Array.from({ length: steps }, (_, index) => {
    const startUs = index * cycleMs * 1000;
    const id = `r${rank}s${index}`;
    const doneUs = startUs + computeMs * 1000;
    const endUs = startUs + cycleMs * 1000 - 100;
    return [
      { id, parent: null, name: "step", index, rank, startUs, endUs },
      { id: `${id}c`, parent: id, name: "forward", index: null, rank, startUs, endUs: doneUs },
      { id: `${id}w`, parent: id, name: "all_reduce", index: null, rank, startUs: doneUs, endUs },
    ];
  }).flat();
}

const originNs = 1_794_710_000_000_000_000n;

/** One batch a rank, as each process sends its own. */
export async function postBatch(server: TestApp, run: string, spans: readonly StepSpan[]): Promise<void> {
  for (const [rank, mine] of Map.groupBy(spans, (span) => span.rank)) {
    const text = JSON.stringify({
      schema_version: 1,
      sdk_version: "0.2.0",
      batch_id: hex(`${run}${rank}`),
      created_ns: `#${originNs}#`,
      spans: mine.map(({ id, parent, name, index, startUs, endUs }) => ({
        id: hex(id),
        parent_id: parent === null ? null : hex(parent),
        name,
        index,
        start_ns: `#${originNs + BigInt(startUs) * 1000n}#`,
        end_ns: `#${originNs + BigInt(endUs) * 1000n}#`,
        cpu_ns: null,
        gpu_ns: null,
        memory_peak_bytes: null,
        thread_id: 7,
        pid: 70 + rank,
        rank,
        attrs: {},
        mark_ids: [],
      })),
      marks: [],
      snapshots: [],
    });
    const body = text.replaceAll(/"#(\d+)#"/g, "$1");
    const { status, body: answer } = await server.post(`/v1/runs/${run}/traces`, body);
    if (status !== 202) throw new Error(`${status} ${JSON.stringify(answer)}`);
  }
}
