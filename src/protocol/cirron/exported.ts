import type { ExportedKind } from "#protocol/exported.ts";

/** A batch, rebuilt from its rows. Its source is told apart from all folders. */
export const exportedBatch: ExportedKind = {
  kind: "cirron",
  joinBy: () => null,
  toBytes: (_, record) => [record],
  toShipment: ({ source }) => ({ route: "cirron", source: `export:${source}` }),
};
