// Semantiva's name and where trace lines are posted.

import type { ProtocolFacts } from "#protocol/protocol-facts.ts";

export const semantivaFacts = {
  name: "semantiva",
  label: "Semantiva",
  traits: ["pipelines"],
  paths: {
    semantiva: {
      method: "POST",
      path: "/v1/trace-stream",
      scope: "ingest",
      summary: "Semantiva trace lines.",
      media: ["application/x-ndjson", "application/json", "text/plain"],
    },
  },
} as const satisfies ProtocolFacts;
