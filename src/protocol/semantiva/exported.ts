import { asLine, type ExportedKind } from "#protocol/exported.ts";

export const exportedTraceLine: ExportedKind = {
  kind: "semantiva",
  joinBy: ({ run = "" }) => run,
  toBytes: asLine,
  toShipment: (_, line) => ({ route: "semantiva", query: { line, offset: 0 } }),
};
