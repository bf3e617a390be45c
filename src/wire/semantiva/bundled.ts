// Our own schema files, written from the Trace Stream v1 page, as one set.

import type { SchemaSet } from "./registry.ts";
import header from "./schema/header.schema.json" with { type: "json" };
import pipelineEnd from "./schema/pipeline-end.schema.json" with { type: "json" };
import pipelineStart from "./schema/pipeline-start.schema.json" with { type: "json" };
import registry from "./schema/registry.json" with { type: "json" };
import runSpaceEnd from "./schema/run-space-end.schema.json" with { type: "json" };
import runSpaceStart from "./schema/run-space-start.schema.json" with { type: "json" };
import ser from "./schema/ser.schema.json" with { type: "json" };

export const bundledSchemas: SchemaSet = {
  registry,
  schemas: {
    "header.schema.json": header,
    "pipeline-start.schema.json": pipelineStart,
    "pipeline-end.schema.json": pipelineEnd,
    "run-space-start.schema.json": runSpaceStart,
    "run-space-end.schema.json": runSpaceEnd,
    "ser.schema.json": ser,
  },
};
