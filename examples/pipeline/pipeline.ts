// A small text pipeline, run once for every combination of two settings, with a Semantiva trace of all of it: the
// launch, each run, and what each node read, made and took.
//
//   node examples/pipeline/pipeline.ts [text file] [trace folder]

import { readFileSync } from "node:fs";
import { createTraceWriter, fingerprint, type PipelinePlan, type PipelineRun } from "#emit/semantiva.ts";
import { countWords, listWords, rankWords, splitSentences } from "./words.ts";

const textPath = process.argv[2] ?? new URL("text.txt", import.meta.url).pathname;
const tracePath = process.argv[3] ?? "traces";

const sweep = { min_length: [3, 5], top: [5, 10] };
const plan: PipelinePlan = {
  nodes: [
    { processor: "pipeline.LoadText", params: { path: textPath } },
    { processor: "pipeline.ListWords" },
    { processor: "pipeline.CountWords" },
    { processor: "pipeline.RankWords" },
    { processor: "pipeline.CheckResult" },
  ],
};

using trace = createTraceWriter({ path: tracePath, detail: "hash,repr", flush: "record" });
const combinations = sweep.min_length.flatMap((min_length) => sweep.top.map((top) => ({ min_length, top })));
const launch = trace.runSpaceStart({
  spec: { combine: "combinatorial", blocks: [{ mode: "combinatorial", context: sweep }] },
  combineMode: "combinatorial",
  totalRuns: combinations.length,
  plannedRunCount: combinations.length,
  inputs: [await fingerprint("text", textPath)],
});

let completed = 0;
for (const [index, values] of combinations.entries()) {
  const run = trace.pipelineStart({ plan, launch, index, context: values });
  try {
    const words = runPipeline(run, { ...values });
    console.log(`run ${index} (${JSON.stringify(values)}): ${words.map(({ word }) => word).join(", ")}`);
    trace.pipelineEnd(run);
    completed++;
  } catch (error) {
    console.log(`run ${index} (${JSON.stringify(values)}) failed: ${String(error)}`);
    trace.pipelineEnd(run, { error });
  }
}
const isAllDone = completed === combinations.length;
trace.runSpaceEnd(launch, { completed_runs: completed, ...(isAllDone ? {} : { status: "failed" }) });

function runPipeline(run: PipelineRun, context: Record<string, unknown>) {
  const text = trace.node(run, 0, { context, parameters: { path: textPath }, parameterSources: { path: "node" } }, () =>
    readFileSync(textPath, "utf8"),
  );
  const words = trace.node(
    run,
    1,
    { input: text, context, reads: ["min_length"], ...fromContext(context, "min_length") },
    () => {
      context["sentences"] = splitSentences(text).length;
      return listWords(text, context["min_length"] as number);
    },
  );
  const counts = trace.node(run, 2, { input: words, context }, () => countWords(words));
  const ranked = trace.node(run, 3, { input: counts, context, reads: ["top"], ...fromContext(context, "top") }, () =>
    rankWords(counts, context["top"] as number),
  );
  return trace.node(run, 4, { input: ranked, context, reads: ["top"] }, () => {
    if (ranked.length < (context["top"] as number)) throw new RangeError(`only ${ranked.length} different words`);
    context["most_frequent"] = ranked[0]?.word;
    return ranked;
  });
}

function fromContext(context: Record<string, unknown>, name: string) {
  return { parameters: { [name]: context[name] }, parameterSources: { [name]: "context" as const } };
}
