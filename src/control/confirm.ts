// Whether a worker obeyed. It either sends an ack that names the command, or reports the status that the command leads
// to.

import type { Command } from "./book.ts";
import type { CommandType } from "./command.ts";

/** Something a worker said that may settle a command; `worker` is '' when the worker has no id. */
export type WorkerNews = {
  readonly workspace: string;
  readonly runId: string;
  readonly worker: string;
} & (
  | { readonly kind: "status"; readonly status: string }
  | { readonly kind: "checkpoint" }
  | { readonly kind: "run_end"; readonly status: string }
  | { readonly kind: "ack"; readonly cmdId: string; readonly isOk: boolean; readonly error: string }
);

const leadsTo: { readonly [T in CommandType]: readonly string[] } = {
  pause: ["paused"],
  resume: ["resuming", "training", "running"],
  stop: ["finishing", "completed", "killed"],
  checkpoint_now: ["checkpointing"],
  update_params: [],
  adjust_lr: [],
  custom: [],
};

export interface Settlement {
  readonly state: "confirmed" | "refused" | "expired";
  readonly reason: string;
}

/**
 * What the news means for a command that was sent to this worker, or that can no longer be sent because the worker
 * ended.
 */
export function judge(command: Command, news: WorkerNews, wasSent: boolean): Settlement | undefined {
  switch (news.kind) {
    case "ack":
      if (news.cmdId !== command.cmdId || !wasSent) return undefined;
      return news.isOk ? { state: "confirmed", reason: "" } : { state: "refused", reason: news.error || "refused" };
    case "status":
      if (!wasSent || !leadsTo[command.type].includes(news.status)) return undefined;
      return { state: "confirmed", reason: `status ${news.status}` };
    case "checkpoint":
      if (!wasSent || command.type !== "checkpoint_now") return undefined;
      return { state: "confirmed", reason: "checkpoint" };
    case "run_end":
      if (wasSent && command.type === "stop") return { state: "confirmed", reason: `run ended: ${news.status}` };
      return { state: "expired", reason: "the worker ended" };
  }
}
