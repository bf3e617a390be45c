// A rule made on the page. It is a dry run until somebody arms it.

import { type ComponentProps, Fragment, useState } from "react";
import { ruleKindNames } from "#api/contract/rule.ts";
import { useChange } from "../../data/use-api.ts";
import { Button } from "../../part/button.tsx";
import { Confirm } from "../../part/dialog.tsx";

const commands = [
  ["", "nothing but telling"],
  ["stop", "stop"],
  ["checkpoint_now stop", "checkpoint, then stop"],
  ["pause", "pause"],
] as const;

interface Asked {
  readonly name: string;
  readonly label: string;
  /** What may be chosen; without it, it is written. */
  readonly options?: readonly (readonly [value: string, text: string])[];
  readonly input?: ComponentProps<"input">;
}

const fields: readonly Asked[] = [
  { name: "name", label: "name", input: { required: true, pattern: "[\\w\\-]{1,64}", placeholder: "stop-on-nan" } },
  { name: "kind", label: "looks for", options: ruleKindNames.map((kind) => [kind, kind]) },
  { name: "filter", label: "in runs that match", input: { placeholder: "experiment:gpt (all when empty)" } },
  { name: "metric", label: "metrics", input: { placeholder: "*loss* (usual ones when empty)" } },
  { name: "when", label: "threshold", input: { placeholder: "metrics.val_loss.last>3" } },
  { name: "for", label: "holds for", input: { placeholder: "5m" } },
  { name: "command", label: "then sends", options: commands },
  { name: "webhook", label: "and tells", input: { type: "url", placeholder: "https://hooks.slack.com/…" } },
];

export function NewRule() {
  const [open, setOpen] = useState(false);
  const put = useChange("putRule", ["rules", "audit"]);
  const send = (given: FormData) => {
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
      {open ? (
        <Confirm title="New rule" yes="make it, as a dry run" change={put} onYes={send} onClose={() => setOpen(false)}>
          <div className="rule-form">
            {fields.map(({ name, label, options, input }) => (
              <Fragment key={name}>
                <label htmlFor={`rule-${name}`}>{label}</label>
                {options === undefined ? (
                  <input id={`rule-${name}`} name={name} className="field" {...input} />
                ) : (
                  <select id={`rule-${name}`} name={name} className="field">
                    {options.map(([value, text]) => (
                      <option key={value} value={value}>
                        {text}
                      </option>
                    ))}
                  </select>
                )}
              </Fragment>
            ))}
          </div>
        </Confirm>
      ) : null}
    </>
  );
}
