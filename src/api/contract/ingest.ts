// Answers of the ingest routes; what goes in is the protocols' own affair.

import { Count, TimeNs, word } from "./scalar.ts";
import { Type } from "./schema.ts";

const wait = Type.Optional(Type.String({ description: "`1`: answer when the rows are queryable." }));

/** Known only to someone who reads a file on behalf of its writer; live clients send only `wait`. */
export const IngestQuery = Type.Object({
  wait,
  imported: Type.Optional(word(["1"])),
  source: Type.Optional(Type.String({ maxLength: 4096, description: "The folder it was found in." })),
  run: Type.Optional(
    Type.String({ maxLength: 1024, description: "The run it belongs to; overrides what the input says." }),
  ),
  file: Type.Optional(Type.String({ maxLength: 4096 })),
  line: Type.Optional(Type.Integer({ minimum: 1, description: "The number of the first line." })),
  offset: Type.Optional(Type.Integer({ minimum: 0, description: "Where in the file or stream the body begins." })),
  current_run: Type.Optional(
    Type.String({ maxLength: 1024, description: "The run of the last `run_start` before the body." }),
  ),
  text: Type.Optional(word(["1"])),
});

export const OutputQuery = Type.Object({
  wait,
  wrapper: Type.String({ minLength: 1, maxLength: 128, description: "Which `tributary run` captured it." }),
  stream: word(["stdout", "stderr"]),
  offset: Type.Integer({ minimum: 0, description: "Where in the stream the body begins." }),
  at_ns: Type.Optional(TimeNs),
});
export const WrapperQuery = Type.Object({ wait, wrapper: Type.String({ minLength: 1, maxLength: 128 }) });
export const IngestRunPath = Type.Object({ run: Type.String({ minLength: 1 }) });
export const BlobPath = Type.Object({ "*": Type.String({ minLength: 1 }) });
export const RunBlobPath = Type.Object({ run: Type.String({ minLength: 1 }), "*": Type.String({ minLength: 1 }) });
export const ArtifactPutPath = Type.Object({ run: Type.String({ minLength: 1 }), name: Type.String({ minLength: 1 }) });

export const BatchAccepted = Type.Object({
  batch_id: Type.String(),
  accepted: Type.Optional(Count),
  duplicates: Type.Optional(Count),
});
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
