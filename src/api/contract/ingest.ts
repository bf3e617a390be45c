// Answers of the ingest routes; what goes in is the three protocols' own affair.

import Type from "typebox";
import { Count } from "./scalar.ts";

export const WaitQuery = Type.Object({
  wait: Type.Optional(Type.String({ description: "`1`: answer when the rows are queryable." })),
});
export const IngestRunPath = Type.Object({ run: Type.String({ minLength: 1 }) });
export const BlobPath = Type.Object({ "*": Type.String({ minLength: 1 }) });
export const RunBlobPath = Type.Object({ run: Type.String({ minLength: 1 }), "*": Type.String({ minLength: 1 }) });
export const ArtifactPutPath = Type.Object({ run: Type.String({ minLength: 1 }), name: Type.String({ minLength: 1 }) });

export const BatchAccepted = Type.Object({ batch_id: Type.String() });
export const StreamAccepted = Type.Object({
  accepted: Count,
  duplicates: Count,
  faults: Type.Array(
    Type.Object({
      line: Type.Optional(Count),
      offset: Type.Optional(Count),
      code: Type.String(),
      message: Type.String(),
    }),
  ),
});
export const BlobStored = Type.Object({ key: Type.String(), size_bytes: Count });
