// One tensor's histograms, run beside run.

import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import type { RunSummary } from "#api/contract/run.ts";
import { apiQuery } from "../../data/use-api.ts";
import { Select } from "../../part/field.tsx";
import { Empty } from "../../part/notice.tsx";
import { AnswerPanel } from "../../part/panel.tsx";
import { reachOf } from "../tensors/ridge.ts";
import { Ridgeline } from "../tensors/ridgeline.tsx";
import "../tensors/tensors.css";
import { useCompare } from "./use-comparison.ts";

export function TensorCompare() {
  const { compare } = useCompare();
  const [chosen, choose] = useState("");
  const [first] = compare.tensors;
  if (first === undefined) return <Empty title="No tensor appears in two of these runs." />;
  // Which tensors there are may come after this is shown, and change with the runs.
  const tensor = compare.tensors.find(({ name }) => name === chosen) ?? first;
  return (
    <div className="stack">
      <Select
        label="Tensor"
        value={tensor.name}
        options={compare.tensors.map(({ name }) => [name, name])}
        onChange={choose}
        style={{ maxWidth: 360 }}
      />
      <Beside runs={compare.runs.filter((_, at) => tensor.has[at] === true)} tensor={tensor.name} />
    </div>
  );
}

/** On one scale: a histogram tells nothing beside another that is stretched differently. */
function Beside({ runs, tensor }: { readonly runs: readonly RunSummary[]; readonly tensor: string }) {
  const answers = useQueries({ queries: runs.map(({ id }) => apiQuery("tensor", { params: { id, tensor } })) });
  const reach = reachOf(answers.flatMap(({ data }) => data?.rows ?? [])) ?? undefined;
  return (
    <div className="tensor-pair">
      {runs.map((run, at) => {
        const answer = answers[at];
        return answer === undefined ? null : (
          <AnswerPanel key={run.id} title={run.name} body="" of={answer}>
            {(data) => (
              <Ridgeline
                snapshots={data.rows}
                overlay={false}
                startNs={run.start_ns ?? "0"}
                label={`${tensor} of ${run.name}`}
                reach={reach}
              />
            )}
          </AnswerPanel>
        );
      })}
    </div>
  );
}
