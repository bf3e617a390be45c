// Whether a job is paused. Its own status counts most; a job that reports none, or not this one, is judged by the last
// pause or resume that it confirmed.

import type { Command } from "#api/contract/command.ts";

type Sent = Pick<Command, "type" | "state">;

const waiting = "paused";

/** Only a job that reports being paused cannot be paused. */
export function canPause(statusRaw: string): boolean {
  return statusRaw !== waiting;
}

export function canResume(statusRaw: string, commands: readonly Sent[]): boolean {
  const last = commands.findLast(({ type, state }) => state === "confirmed" && (type === "pause" || type === "resume"));
  return statusRaw === waiting || last?.type === "pause";
}
