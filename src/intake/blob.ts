// A file that was stored under an object key: a tensor of a span, or an artifact of a run. Its bytes are in the blob
// store, not here.

import { formatGroupKey, groupKinds } from "#model/group-key.ts";
import type { StateChange, StateRow } from "#model/state-tables.ts";
import { nothingApplied } from "./applied.ts";
import type { Input } from "./input.ts";
import type { InputKind } from "./input-kind.ts";

export interface BlobInput extends Input {
  readonly kind: "blob";
  readonly spanId: string;
  readonly blobKind: string;
  readonly objectKey: string;
  readonly size: number;
  readonly sha256: string;
  readonly contentType: string;
}

const artifactPrefix = "artifact:";

export const blobInputs: InputKind<BlobInput> = {
  kind: "blob",
  decode(input) {
    const { workspace, spanId, blobKind } = input;
    // An artifact may be all that is known of its run.
    const isArtifact = blobKind.startsWith(artifactPrefix);
    const key = isArtifact ? formatGroupKey(workspace, groupKinds.artifact, spanId) : null;
    const row: StateChange = { table: "blobs", row: toRow(input) };
    return {
      prepare: (state) => (key === null ? null : state.prepareGroups([key])),
      apply({ groups }, arrival, position) {
        const cause = { ...arrival, protocol: "run", ownId: spanId };
        const noted = key === null ? [] : groups.note(key, cause, position);
        return { ...nothingApplied, state: [row, ...noted], accepted: 1 };
      },
    };
  },
};

function toRow(input: BlobInput): StateRow<"blobs"> {
  return {
    workspace: input.workspace,
    span_id: input.spanId,
    kind: input.blobKind,
    object_key: input.objectKey,
    size: BigInt(input.size),
    sha256: input.sha256,
    content_type: input.contentType,
    received_ns: input.receivedNs,
    deleted: 0,
    version: input.receivedNs,
  };
}
