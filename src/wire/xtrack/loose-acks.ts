// Answers to commands that name no run: they are no run's events, and only the command's id says whose they are.

import type { EventColumns } from "./event-columns.ts";

export interface LooseAck {
  readonly cmdId: string;
  /** '' when it did not say who it is. */
  readonly worker: string;
  readonly isOk: boolean;
  readonly error: string;
}

/** Those of the events from `first` on. */
export function findLooseAcks(columns: EventColumns, first = 0): LooseAck[] {
  return columns.control.flatMap(({ event, type, run, worker, payload }) => {
    const { cmd_id: cmdId, status, error } = payload;
    if (event < first || type !== "ack" || run !== "" || typeof cmdId !== "string") return [];
    return [{ cmdId, worker, isOk: status !== "error", error: typeof error === "string" ? error : "" }];
  });
}
