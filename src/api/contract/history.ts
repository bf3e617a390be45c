// What an export has of a run besides its records: its faults, and the commands it was sent.

import type { Static } from "typebox";
import { Count, Int64, TimeNs } from "./scalar.ts";
import { strict, Type } from "./schema.ts";

const HistoryFault = strict({
  id: Type.String({ pattern: "^[0-9a-f]{32}$" }),
  /** The group of rows it stands with, without its workspace. */
  group: Type.String({ minLength: 1 }),
  code: Type.String({ minLength: 1 }),
  protocol: Type.String(),
  transport: Type.String(),
  detail: Type.String(),
  /** JSON text of the place. */
  place: Type.String(),
  raw_base64: Type.String(),
});
export type HistoryFault = Static<typeof HistoryFault>;

const HistoryStep = strict({
  id: Type.String({ minLength: 1 }),
  worker: Type.String(),
  type: Type.String(),
  payload: Type.String(),
  state: Type.String(),
  reason: Type.String(),
  by: Type.String(),
  at_ns: TimeNs,
  expires_ns: Int64,
});
export type HistoryStep = Static<typeof HistoryStep>;

export const RunHistory = strict({
  faults: Type.Optional(Type.Array(HistoryFault, { maxItems: 10_000 })),
  commands: Type.Optional(Type.Array(HistoryStep, { maxItems: 10_000 })),
});

export const RunHistoryAnswer = Type.Object({ accepted: Count });
