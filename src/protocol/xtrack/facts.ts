// XTrack's name and where frames are posted.

import type { ProtocolFacts } from "#protocol/protocol-facts.ts";

export const xtrackFacts = {
  name: "xtrack",
  label: "XTrack",
  traits: ["workers"],
  paths: {
    xtrack: {
      method: "POST",
      path: "/v1/xtrack",
      scope: "ingest",
      summary: "XTrack frames; the same path upgrades to a WebSocket.",
      media: ["application/octet-stream"],
    },
  },
} as const satisfies ProtocolFacts;
