// Bytes: artifacts that clients stored, tensor blobs, and values out of them. Everything is sent as an attachment.

import { limitDefault, ofRun, type Route } from "#api/context.ts";
import type { ArtifactRow } from "#api/contract/record.ts";
import { toFloat } from "#api/contract/scalar.ts";
import type { TensorValuesAnswer } from "#api/contract/snapshot.ts";
import { nextCursor } from "#api/cursor.ts";
import { FileBody, toExactJson } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { openArtifact, openTensors, readTensorValues } from "#query/files.ts";
import { listArtifacts } from "#query/records.ts";
import { readNames } from "#query/runs/find-run.ts";
import { readSnapshot } from "#query/tensors/read-tensors.ts";
import { byTime, decodeTimeCursor } from "./records.ts";
import { unknownTensor } from "./snapshots.ts";

const valuesDefault = 1000;

/** Files the run named, then files that were stored for it. */
export const artifactsRoute: Route<"artifacts"> = ofRun(async (context, { asOf, run, query, caller, groups }) => {
  const limit = query.limit ?? limitDefault;
  const after = decodeTimeCursor(query.cursor);
  const page = { groups, limit, after, fromNs: null, toNs: null };
  const { workspace } = caller;
  const names = await readNames(context.sources, workspace, run);
  const { named, stored, unnamed } = await listArtifacts(context.sources, workspace, names, page);
  const next = nextCursor(named, limit, byTime);
  const storedNames = new Set(stored.map((file) => file.name));
  const rows: ArtifactRow[] = named.map(({ seq: _, tie: __, ...row }) => ({
    ...row,
    stored: storedNames.has(row.name),
  }));
  return { artifacts: [...rows, ...unnamed.map(toRow)], next, as_of: asOf };
});

function toRow(file: { name: string; size: string; sha256: string; receivedNs: string }): ArtifactRow {
  return {
    name: file.name,
    type: "other",
    path: "",
    strategy: "stored",
    size_bytes: file.size,
    checksum: `sha256:${file.sha256}`,
    worker: "",
    ts_ns: file.receivedNs,
    step: null,
    meta: "",
    stored: true,
  };
}

export const artifactRoute: Route<"artifact"> = ofRun(async (context, { params, caller, run }) => {
  const names = await readNames(context.sources, caller.workspace, run);
  const bytes = await openArtifact(context.sources, caller.workspace, names, params.name);
  if (bytes !== null) return new FileBody("application/octet-stream", bytes, params.name);
  throw new Refusal("artifact_not_stored", `The file ${JSON.stringify(params.name)} is not stored here.`, {
    hint: "A path that a client names is only text; files sent with PUT /v1/runs/<run>/artifacts/<name> can be downloaded.",
  });
});

export const readBlobRoute: Route<"readBlob"> = async (context, { params, caller }) => {
  const match = /^snapshots\/([^/]+)\/([^/]+)\.[A-Za-z0-9]+$/.exec(params["*"]);
  const [, span, kind] = match ?? [];
  const bytes =
    span === undefined || kind === undefined ? null : await openTensors(context.sources, caller.workspace, span, kind);
  if (bytes !== null) return new FileBody("application/octet-stream", bytes, `${span}-${kind}.safetensors`);
  throw new Refusal("blob_not_found", `There is no blob ${JSON.stringify(params["*"])}.`);
};

export const tensorValuesRoute: Route<"tensorValues"> = ofRun(async (context, { params, query, caller, groups }) => {
  const snapshot = await readSnapshot(context.sources.store, groups, query.snapshot);
  if (snapshot === null || snapshot.tensor !== params.tensor) throw unknownTensor(params.tensor);
  const offset = query.offset ?? 0;
  const found = await readTensorValues(context.sources, caller.workspace, {
    snapshot: query.snapshot,
    span: snapshot.span_id,
    tensor: params.tensor,
    offset,
    limit: query.limit ?? valuesDefault,
    bins: query.bins ?? null,
  });
  if (found === null)
    throw new Refusal("blob_not_found", "The values of this snapshot are not stored here.", {
      hint: "Only snapshots in mode sampled or full have a blob; import the folder, or let the SDK upload it.",
    });
  if ("reason" in found) throw new Refusal("blob_unreadable", `The blob cannot be read: ${found.reason}.`);
  const values = found.values.map((value) => (typeof value === "bigint" ? value.toString() : toFloat(value)));
  return toExactJson<TensorValuesAnswer>({ snapshot: query.snapshot, offset, ...found, values });
});
