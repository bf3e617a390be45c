// Whether a job waits. One that says its status knows best; one that says none, or does not say that it waits, is taken
// at the last command of the two that it confirmed.

import type { Command } from "#api/contract/command.ts";

type Sent = Pick<Command, "type" | "state">;

const waiting = "paused";

/** Only a job that says that it waits already cannot be paused. */
export function canPause(statusRaw: string): boolean {
  return statusRaw !== waiting;
}

export function canResume(statusRaw: string, commands: readonly Sent[]): boolean {
  const last = commands.findLast(({ type, state }) => state === "confirmed" && (type === "pause" || type === "resume"));
  return statusRaw === waiting || last?.type === "pause";
}
