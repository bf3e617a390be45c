// One tensor's histograms, run beside run.

import { useState } from "react";
import type { RunSummary } from "#api/contract/run.ts";
import { useApi } from "../../data/use-api.ts";
import { Select } from "../../part/field.tsx";
import { Empty } from "../../part/notice.tsx";
import { AnswerPanel } from "../../part/panel.tsx";
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
      <div className="tensor-pair">
        {compare.runs.map((run, at) =>
          tensor.has[at] === true ? <OneRun key={run.id} run={run} tensor={tensor.name} /> : null,
        )}
      </div>
    </div>
  );
}

function OneRun({ run, tensor }: { readonly run: RunSummary; readonly tensor: string }) {
  const answer = useApi("tensor", { params: { id: run.id, tensor } });
  return (
    <AnswerPanel title={run.name} body="" of={answer}>
      {(data) => (
        <Ridgeline
          snapshots={data.rows}
          overlay={false}
          startNs={run.start_ns ?? "0"}
          label={`${tensor} of ${run.name}`}
        />
      )}
    </AnswerPanel>
  );
}
