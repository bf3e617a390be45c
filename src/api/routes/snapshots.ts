// Tensors of a run: the list, and one tensor over time.

import { ofRun, type Route, toBigInt } from "#api/context.ts";
import { toFloat } from "#api/contract/scalar.ts";
import type { Snapshot, SnapshotsAnswer, TensorAnswer } from "#api/contract/snapshot.ts";
import { toExactJson } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { listTensors, readTensor } from "#query/tensors/read-tensors.ts";

const rowsDefault = 200;

export const snapshotsRoute: Route<"snapshots"> = ofRun(async (context, { query, asOf, groups }) => {
  const window = { groups, fromNs: toBigInt(query.from_ns), toNs: toBigInt(query.to_ns) };
  return toExactJson<SnapshotsAnswer>({ tensors: await listTensors(context.sources, window), as_of: asOf });
});

export const tensorRoute: Route<"tensor"> = ofRun(async (context, { params, query, caller, asOf, groups }) => {
  const window = { groups, fromNs: toBigInt(query.from_ns), toNs: toBigInt(query.to_ns) };
  const wanted = { tensor: params.tensor, limit: query.limit ?? rowsDefault };
  const found = await readTensor(context.sources, caller.workspace, window, wanted);
  if (found === null) throw unknownTensor(params.tensor);
  return toExactJson<TensorAnswer>({ ...found, rows: found.rows.map(toSnapshot), as_of: asOf });
});

type FoundSnapshot = NonNullable<Awaited<ReturnType<typeof readTensor>>>["rows"][number];

function toSnapshot({ finite, ...row }: FoundSnapshot): Snapshot {
  if (finite === null) return { ...row, finite };
  const float = (value: number | null) => (value === null ? null : toFloat(value));
  const { count, mean, std, min, max, norm } = finite;
  return {
    ...row,
    finite: { count, mean: float(mean), std: float(std), min: float(min), max: float(max), norm: float(norm) },
  };
}

export function unknownTensor(tensor: string): Refusal {
  return new Refusal("tensor_not_found", `This run has no tensor ${JSON.stringify(tensor)}.`, {
    hint: "GET …/snapshots lists the tensors there are.",
    at: { part: "path", name: "tensor" },
  });
}
