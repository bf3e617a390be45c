// A status is always an icon and a word; colour only helps.

import { Icon, type IconName } from "./icon.tsx";

const icons: Record<string, IconName> = {
  running: "dot",
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
  return (
    <span className={`badge status-${status}`} title={title}>
      <Icon name={icons[status] ?? "question"} size={14} />
      {words[status] ?? status}
    </span>
  );
}
