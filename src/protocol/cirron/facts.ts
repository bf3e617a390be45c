// Cirron's name and where its SDK posts batches and blobs.

import type { ProtocolFacts } from "#protocol/protocol-facts.ts";

const batch = { method: "POST", scope: "ingest", media: ["application/json"] } as const;
const blob = { method: "PUT", scope: "ingest", media: ["application/octet-stream"] } as const;

export const cirronFacts = {
  name: "cirron",
  label: "Cirron",
  traits: ["sessions"],
  paths: {
    cirron: { ...batch, path: "/v1/traces", summary: "A Cirron batch, or an OTLP request for traces." },
    cirronDefault: { ...batch, path: "/api/traces", summary: "A Cirron batch, on the SDK's default path." },
    cirronRun: { ...batch, path: "/v1/runs/:run/traces", summary: "A Cirron batch of a named run." },
    blob: { ...blob, path: "/v1/traces/blobs/*", summary: "A tensor blob." },
    blobDefault: { ...blob, path: "/api/traces/blobs/*", summary: "A tensor blob, on the SDK's default path." },
    blobRun: { ...blob, path: "/v1/runs/:run/traces/blobs/*", summary: "A tensor blob of a named run." },
  },
} as const satisfies ProtocolFacts;
