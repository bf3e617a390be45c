// A rule made on the page. It is a dry run until somebody arms it.

import { type FormEvent, useState } from "react";
import { ruleKindNames } from "#api/contract/rule.ts";
import { useChange } from "../../data/use-api.ts";
import { Button } from "../../part/button.tsx";
import { Dialog } from "../../part/dialog.tsx";
import { Problem } from "../../part/notice.tsx";

const commands = [
  ["", "nothing but telling"],
  ["stop", "stop"],
  ["checkpoint_now stop", "checkpoint, then stop"],
  ["pause", "pause"],
] as const;

export function NewRule() {
  const [open, setOpen] = useState(false);
  const put = useChange("putRule", ["rules", "audit"]);
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string) => String(given.get(name) ?? "").trim();
    const filled = ["filter", "metric", "when", "webhook", "for"].filter((name) => text(name) !== "");
    const rule = {
      kind: text("kind"),
      ...Object.fromEntries(filled.map((name) => [name, text(name)])),
      ...(text("command") === "" ? {} : { command: text("command").split(" ") }),
    };
    put.mutate({ params: { rule: text("name") }, body: rule }, { onSuccess: () => setOpen(false) });
  };
  return (
    <>
      <Button look="small" icon="plus" onClick={() => setOpen(true)}>
        new rule
      </Button>
      <Dialog title="New rule" open={open} onClose={() => setOpen(false)}>
        <form className="rule-form" onSubmit={send}>
          <label htmlFor="rule-name">name</label>
          <input
            id="rule-name"
            name="name"
            className="field"
            required
            pattern="[\w\-]{1,64}"
            placeholder="stop-on-nan"
          />
          <label htmlFor="rule-kind">looks for</label>
          <select id="rule-kind" name="kind" className="field">
            {ruleKindNames.map((kind) => (
              <option key={kind}>{kind}</option>
            ))}
          </select>
          <label htmlFor="rule-filter">in runs that match</label>
          <input id="rule-filter" name="filter" className="field" placeholder="experiment:gpt (all when empty)" />
          <label htmlFor="rule-metric">metrics</label>
          <input id="rule-metric" name="metric" className="field" placeholder="*loss* (usual ones when empty)" />
          <label htmlFor="rule-when">threshold</label>
          <input id="rule-when" name="when" className="field" placeholder="metrics.val_loss.last>3" />
          <label htmlFor="rule-for">holds for</label>
          <input id="rule-for" name="for" className="field" placeholder="5m" />
          <label htmlFor="rule-command">then sends</label>
          <select id="rule-command" name="command" className="field">
            {commands.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
          <label htmlFor="rule-webhook">and tells</label>
          <input
            id="rule-webhook"
            name="webhook"
            className="field"
            type="url"
            placeholder="https://hooks.slack.com/…"
          />
          {put.error === null ? null : <Problem error={put.error} />}
          <Button type="submit" look="primary" disabled={put.isPending}>
            make it, as a dry run
          </Button>
        </form>
      </Dialog>
    </>
  );
}
