// What `tributary run` sends about its program. It is not a protocol of others, but arrives in the same way.

import type { ProtocolFacts } from "#protocol/protocol-facts.ts";

export const runFacts = {
  name: "run",
  label: "tributary run",
  traits: [],
  paths: {
    output: {
      method: "POST",
      path: "/v1/runs/:run/output",
      scope: "ingest",
      summary: "Lines that a program under `tributary run` printed.",
      media: ["text/plain"],
    },
    wrapper: {
      method: "POST",
      path: "/v1/runs/:run/wrapper",
      scope: "ingest",
      summary: "Start, exit and machine samples of `tributary run`.",
      media: ["application/x-ndjson"],
    },
  },
} as const satisfies ProtocolFacts;
