// A status is always an icon and a word; colour only helps.

import { Icon, type IconName } from "./icon.tsx";

const icons: Record<string, IconName> = {
  running: "dot",
  paused: "pause",
  completed: "check",
  succeeded: "check",
  confirmed: "check",
  failed: "cross",
  error: "cross",
  refused: "cross",
  killed: "stop",
  cancelled: "stop",
  lost: "question",
  missing: "question",
  unknown: "question",
  skipped: "right",
  queued: "clock",
  delivered: "right",
  expired: "clock",
};

const words: Record<string, string> = { completed: "done" };

export function Status({ status, raw = "" }: { readonly status: string; readonly raw?: string }) {
  const title = raw !== "" && raw !== status ? `${status}; the client said “${raw}”` : status;
  // A run that was paused still runs for the server, which waits for its records; for a person it stands still.
  const shown = status === "running" && raw === "paused" ? raw : status;
  return (
    <span className={`badge status-${shown}`} title={title}>
      <Icon name={icons[shown] ?? "question"} size={14} />
      {words[shown] ?? shown}
    </span>
  );
}
