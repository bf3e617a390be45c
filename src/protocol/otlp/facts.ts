// OpenTelemetry's name and where its exporters post. Traces share `/v1/traces` with another protocol, whose route that is.

import type { ProtocolFacts } from "#protocol/protocol-facts.ts";

const media = ["application/x-protobuf", "application/json"] as const;
const posted = { method: "POST", scope: "ingest", media } as const;

export const otlpFacts = {
  name: "otlp",
  label: "OpenTelemetry",
  traits: ["resources", "unended"],
  paths: {
    otlpMetrics: { ...posted, path: "/v1/metrics", summary: "An OTLP request for metrics." },
    otlpLogs: { ...posted, path: "/v1/logs", summary: "An OTLP request for logs." },
    otlpOwnTraces: { ...posted, path: "/v1/otlp/v1/traces", summary: "An OTLP request for traces, and nothing else." },
    otlpOwnMetrics: { ...posted, path: "/v1/otlp/v1/metrics", summary: "The same as `/v1/metrics`." },
    otlpOwnLogs: { ...posted, path: "/v1/otlp/v1/logs", summary: "The same as `/v1/logs`." },
  },
} as const satisfies ProtocolFacts;
