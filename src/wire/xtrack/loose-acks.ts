// Answers to commands that name no run. They are not events of a run; only the id of the command tells what they belong to.

import type { EventColumns } from "./event-columns.ts";

export interface LooseAck {
  readonly cmdId: string;
  /** '' when it did not say who it is. */
  readonly worker: string;
  readonly isOk: boolean;
  readonly error: string;
}

/** The loose acks among the events from `first` on. */
export function findLooseAcks(columns: EventColumns, first = 0): LooseAck[] {
  return columns.control.flatMap(({ event, type, run, worker, payload }) => {
    const { cmd_id: cmdId, status, error } = payload;
    if (event < first || type !== "ack" || run !== "" || typeof cmdId !== "string") return [];
    return [{ cmdId, worker, isOk: status !== "error", error: typeof error === "string" ? error : "" }];
  });
}
