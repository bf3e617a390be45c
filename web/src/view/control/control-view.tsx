// Commands to the running job: what can be sent, to whom, and what became of each.

import { useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { Command, CommandBody, CommandType } from "#api/contract/command.ts";
import { parseTyped } from "#base/json/as-typed.ts";
import { useSetSearch } from "../../app/url-choice.ts";
import { useRunApi, useRunClock, useRunMetrics } from "../../clock/run-clock.tsx";
import { useChange } from "../../data/use-api.ts";
import { Button } from "../../part/button.tsx";
import { Confirm } from "../../part/dialog.tsx";
import { Select, TextField } from "../../part/field.tsx";
import { Icon } from "../../part/icon.tsx";
import { Answer } from "../../part/notice.tsx";
import { Page } from "../../part/panel.tsx";
import { Status } from "../../part/status.tsx";
import { Table } from "../../part/table.tsx";
import { When } from "../../part/when.tsx";
import { formatNumber } from "../../text/format-number.ts";
import { formatDuration, toOffsetNs } from "../../text/format-time.ts";
import { type CommandChoice, commandChoices } from "./choices.ts";
import { canPause, canResume } from "./pause.ts";
import { presentRate } from "./present-rate.ts";

export function ControlView() {
  const { run } = useRunClock();
  const commands = useRunApi("commands", {}, { refetchMs: 2_000 });
  const search = useSearch({ strict: false }) as { ask?: string };
  const setSearch = useSetSearch();
  const asking = commandChoices.find((choice) => choice.type === search.ask);
  return (
    <Page>
      <Answer of={commands}>
        {(data) => {
          const open = data.accepting.length > 0;
          const isIdle: Partial<Record<CommandType, boolean>> = {
            pause: !canPause(run.status_raw),
            resume: !canResume(run.status_raw, data.commands),
          };
          return (
            <>
              {open ? (
                <p>{acceptText(data.accepting)}</p>
              ) : (
                <p className="notice">
                  <Icon name="info" />
                  <span>{data.how}</span>
                </p>
              )}
              <div className="row wrap">
                {commandChoices.map((choice) => (
                  <Button
                    key={choice.type}
                    look={choice.type === "stop" ? "danger" : ""}
                    icon={choice.icon}
                    disabled={!open || isIdle[choice.type] === true}
                    onClick={() => setSearch({ ask: choice.type })}
                  >
                    {choice.word}
                  </Button>
                ))}
              </div>
              <History commands={data.commands} />
              {open && asking !== undefined ? (
                <Ask
                  key={asking.type}
                  choice={asking}
                  workers={data.accepting}
                  onClose={() => setSearch({ ask: undefined })}
                />
              ) : null}
            </>
          );
        }}
      </Answer>
    </Page>
  );
}

function acceptText(workers: readonly string[]): string {
  if (workers.length === 1 && workers[0] === "") return "This job accepts commands.";
  const unnamed = workers.filter((worker) => worker === "").length;
  const words = unnamed === 0 ? [] : [unnamed === 1 ? "one without an id" : `${unnamed} without an id`];
  const named = [...workers.filter((worker) => worker !== ""), ...words].join(", ");
  return workers.length === 1
    ? `One worker accepts commands: ${named}.`
    : `${workers.length} workers accept commands: ${named}.`;
}

interface AskProps {
  readonly choice: CommandChoice;
  readonly workers: readonly string[];
  readonly onClose: () => void;
}

function Ask({ choice, workers, onClose }: AskProps) {
  const { run } = useRunClock();
  const send = useChange("sendCommand", ["commands", "run"]);
  const [payload, setPayload] = useState(choice.payload ?? "");
  const [worker, setWorker] = useState("");
  const parsed = choice.payload === null ? {} : parseObject(payload);
  // Workers of joined runs may have the same id, and then both are meant.
  const named = [...new Set(workers)].filter((each) => each !== "");
  return (
    <Confirm
      title={choice.word}
      yes={`send “${choice.word.toLowerCase()}”`}
      ready={parsed !== null}
      change={send}
      onYes={() => {
        const body: CommandBody = {
          type: choice.type,
          ...(choice.payload === null || parsed === null ? {} : { payload: parsed }),
          ...(worker === "" ? {} : { worker }),
        };
        send.mutate({ params: { id: run.id }, body }, { onSuccess: onClose });
      }}
      onClose={onClose}
    >
      <p>{choice.asks}</p>
      {choice.type === "adjust_lr" ? (
        <RateField onChange={setPayload} />
      ) : choice.payload === null ? null : (
        <label className="stack" style={{ gap: 4 }}>
          payload (JSON object)
          <textarea
            className={`field mono ${parsed === null ? "invalid" : ""}`}
            rows={4}
            value={payload}
            spellCheck={false}
            aria-invalid={parsed === null}
            onChange={(event) => setPayload(event.target.value)}
          />
          {parsed === null ? <span className="status-failed">This is not a JSON object.</span> : null}
        </label>
      )}
      {workers.length > 1 && named.length > 0 ? (
        <label className="row">
          to
          <Select
            value={worker}
            options={[["", `all ${workers.length} workers`], ...named.map((each) => [each, each] as const)]}
            onChange={setWorker}
          />
        </label>
      ) : null}
    </Confirm>
  );
}

function History({ commands }: { readonly commands: readonly Command[] }) {
  const { run } = useRunClock();
  const cancel = useChange("cancelCommand", ["commands"]);
  return (
    <section className="panel" aria-label="Commands sent">
      <Table
        rows={[...commands].reverse()}
        keyOf={(command) => command.id}
        none="No command was sent to this run."
        columns={[
          {
            head: "what",
            cell: ({ type, payload }) => (
              <>
                {type} {payload === "{}" ? null : <code className="muted">{payload}</code>}
              </>
            ),
          },
          {
            head: "to",
            cell: (command) => (
              <>
                {command.worker ?? "all"}
                {run.joined.length === 0 ? null : <span className="muted"> of {command.run}</span>}
              </>
            ),
          },
          {
            head: "by",
            cell: ({ by, reason }) => (
              <>
                {by}
                {reason === "" ? null : <div className="muted">{reason}</div>}
              </>
            ),
          },
          { head: "when", cell: (command) => <When ns={command.created_ns} /> },
          {
            head: "state",
            cell: ({ id, state }) => (
              <span className="row">
                <Status status={state} />
                {state === "queued" ? (
                  <Button look="quiet small" onClick={() => cancel.mutate({ params: { id: run.id, command: id } })}>
                    take back
                  </Button>
                ) : null}
              </span>
            ),
          },
          {
            head: "took",
            cell: ({ settled_ns, created_ns }) =>
              settled_ns === null ? "–" : formatDuration(toOffsetNs(settled_ns, created_ns)),
            look: "num",
          },
          { head: "answer", cell: (command) => command.note },
        ]}
      />
    </section>
  );
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value = parseTyped(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** A number field with the rate the job trains with now in it. Gives the payload as JSON text; '' while it holds none. */
function RateField({ onChange }: { readonly onChange: (payload: string) => void }) {
  const { run } = useRunClock();
  const present = presentRate(useRunMetrics(), run.params);
  const [text, setText] = useState<string | null>(null);
  const shown = text ?? (present === null ? "" : String(present));
  const value = shown.trim() === "" ? Number.NaN : Number(shown);
  useEffect(() => onChange(Number.isFinite(value) ? JSON.stringify({ lr: value }) : ""), [value, onChange]);
  return (
    <label className="stack" style={{ gap: 4 }}>
      learning rate
      <TextField
        look={`num ${Number.isFinite(value) ? "" : "invalid"}`}
        type="number"
        step="any"
        value={shown}
        aria-invalid={!Number.isFinite(value)}
        onChange={setText}
      />
      <span className="muted">
        {present === null ? "The job has not reported its rate." : `now ${formatNumber(present)}`}
      </span>
    </label>
  );
}
