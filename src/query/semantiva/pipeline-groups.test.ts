import { expect, it } from "vitest";
import { groupPipelines } from "./pipeline-groups.ts";

it("groups the runs of a sweep whose first run has another pipeline id (S11)", () => {
  const ran = (run_id: string, pipeline_id: string, config_id = "c") => ({
    run_id,
    pipeline_id,
    semantic_id: "s",
    config_id,
  });
  const runs = [ran("r2", "p1"), ran("r1", "p1"), ran("r0", "p0"), ran("r3", "p1", "d")];
  expect(groupPipelines(runs)).toEqual([
    {
      semantic_id: "s",
      pipeline_ids: ["p0", "p1"],
      configs: [
        { config_id: "c", runs: ["r0", "r1", "r2"] },
        { config_id: "d", runs: ["r3"] },
      ],
      runs: 4,
    },
  ]);
});

it("falls back to the pipeline id where there is no semantic id", () => {
  const ran = (run_id: string, pipeline_id: string) => ({ run_id, pipeline_id, semantic_id: "", config_id: "" });
  const groups = groupPipelines([ran("a", "p"), ran("b", "q"), ran("c", "q")]);
  expect(groups.map(({ pipeline_ids, runs }) => [pipeline_ids, runs])).toEqual([
    [["q"], 2],
    [["p"], 1],
  ]);
});
