// Answers to commands that name no run: they are no run's events, and only the command's id says whose they are.

import type { EventColumns } from "./event-columns.ts";

export interface LooseAck {
  readonly cmdId: string;
  readonly worker: string;
  readonly isOk: boolean;
  readonly error: string;
}

export function findLooseAcks(columns: EventColumns): LooseAck[] {
  return columns.control.flatMap(({ type, run, worker, payload }) => {
    const { cmd_id: cmdId, status, error } = payload;
    if (type !== "ack" || run !== "" || typeof cmdId !== "string") return [];
    return [{ cmdId, worker, isOk: status !== "error", error: typeof error === "string" ? error : "" }];
  });
}
