// What is watched for, what it saw, and what it does about it.

import { useEffect, useState } from "react";
import type { WatchedRule } from "#api/contract/rule.ts";
import { useApi, useChange } from "../../data/use-api.ts";
import { Button } from "../../part/button.tsx";
import { Confirm, Dialog } from "../../part/dialog.tsx";
import { Icon } from "../../part/icon.tsx";
import { Loading, Problem } from "../../part/notice.tsx";
import { AnswerPanel, Page } from "../../part/panel.tsx";
import { type Column, Table } from "../../part/table.tsx";
import { AlertList } from "./alert-list.tsx";
import { NewRule } from "./new-rule.tsx";
import "./rules.css";
import { Entry } from "../../part/entry.tsx";
import { RunLink } from "../../part/run-link.tsx";

export function RulesView() {
  const alerts = useApi("alerts", { query: { limit: 50 } }, { refetchMs: 15_000 });
  const rules = useApi("rules", {});
  const [tried, setTried] = useState<string | null>(null);
  return (
    <Page>
      <AnswerPanel title="alerts" of={alerts}>
        {(data) =>
          data.alerts.length === 0 ? (
            <p className="panel-body muted">No rule has fired.</p>
          ) : (
            <AlertList alerts={data.alerts} withRun />
          )
        }
      </AnswerPanel>
      <AnswerPanel title="rules" side={<NewRule />} of={rules}>
        {(data) => (
          <>
            {data.watching ? null : (
              <p className="notice warn">
                <Icon name="warning" /> Rules are not watched on this server: watch.rules is off.
              </p>
            )}
            <Table
              look="rules-table"
              rows={data.rules}
              keyOf={({ name }) => name}
              columns={[...columns, { cell: (rule) => <RuleActions rule={rule} onTest={setTried} /> }]}
            />
          </>
        )}
      </AnswerPanel>
      {tried === null ? null : <RuleTest name={tried} onClose={() => setTried(null)} />}
    </Page>
  );
}

const columns: readonly Column<WatchedRule>[] = [
  {
    head: "rule",
    cell: (rule) => (
      <>
        <strong>{rule.name}</strong>
        <div className="muted">
          {rule.kind === rule.name ? rule.origin : `${rule.kind}, ${rule.origin}`}
          {filterOf(rule)}
        </div>
      </>
    ),
  },
  { head: "fires when", cell: ({ means }) => means, look: "rule-means" },
  { head: "does", cell: doesWhat },
  {
    head: "state",
    cell: (rule) => (
      <span className={rule.armed ? "badge status-warn" : "badge"}>
        {isSilent(rule) ? "silenced" : rule.armed ? "armed" : "dry run"}
      </span>
    ),
  },
];

const hourS = 3600;

function isSilent({ silenced_until_ns }: WatchedRule): boolean {
  return silenced_until_ns !== null && Number(silenced_until_ns) / 1e6 > Date.now();
}

function RuleActions({ rule, onTest }: { readonly rule: WatchedRule; readonly onTest: (name: string) => void }) {
  const arm = useChange("armRule", ["rules", "audit"]);
  const silence = useChange("silenceRule", ["rules", "audit"]);
  const remove = useChange("deleteRule", ["rules", "audit"]);
  const [asking, setAsking] = useState(false);
  const params = { rule: rule.name };
  const isQuiet = isSilent(rule);
  return (
    <>
      <span className="row wrap" data-rule={rule.name}>
        <Button look="small" onClick={() => onTest(rule.name)}>
          try on past runs
        </Button>
        <Button
          look="small"
          onClick={() => (rule.armed ? arm.mutate({ params, body: { armed: false } }) : setAsking(true))}
        >
          {rule.armed ? "disarm" : "arm"}
        </Button>
        <Button look="small" onClick={() => silence.mutate({ params, body: { seconds: isQuiet ? 0 : 8 * hourS } })}>
          {isQuiet ? "end silence" : "silence 8 h"}
        </Button>
        {rule.origin === "page" ? (
          <Button look="small" onClick={() => remove.mutate({ params })}>
            delete
          </Button>
        ) : null}
      </span>
      <Problem error={arm.error ?? silence.error ?? remove.error} />
      {asking ? (
        <Confirm
          title={`Arm ${rule.name}?`}
          onClose={() => setAsking(false)}
          no="leave it a dry run"
          yes="arm it"
          change={arm}
          onYes={() => arm.mutate({ params, body: { armed: true } }, { onSuccess: () => setAsking(false) })}
        >
          <p>
            From now on, when it fires, it does this by itself: {doesWhat(rule)}. Who armed it is written to the audit.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

function filterOf({ rule }: WatchedRule): string {
  return typeof rule["filter"] === "string" ? `, ${rule["filter"]}` : "";
}

function doesWhat({ rule }: WatchedRule): string {
  const list = (key: string) => (rule[key] === undefined ? [] : [rule[key]].flat().map(String));
  const parts = [
    ...(list("command").length === 0 ? [] : [`sends ${list("command").join(", then ")}`]),
    ...(list("webhook").length === 0 ? [] : ["tells a webhook"]),
    ...(list("email").length === 0 ? [] : ["writes a mail"]),
  ];
  return parts.length === 0 ? "tells on this page" : parts.join(", ");
}

const runsUsual = 50;

/** A rule tried on the last runs: where it would have fired. */
function RuleTest({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const test = useChange("testRule", []);
  const { mutate } = test;
  useEffect(() => mutate({ body: { name, runs: runsUsual } }), [mutate, name]);
  const fired = test.data?.tried.filter((one) => one.fired) ?? [];
  return (
    <Dialog title={`${name} on the last runs`} onClose={onClose}>
      <Problem error={test.error} />
      {test.data === undefined ? (
        test.error === null && <Loading rows={3} label="Trying" />
      ) : (
        <>
          <p>
            It would have fired on {test.data.fired} of {test.data.tried.length} runs.
          </p>
          <ul>
            {fired.map((one) => (
              <Entry
                key={one.run}
                code={name}
                title={
                  <>
                    <RunLink id={one.run}>{one.name}</RunLink> <strong>{one.text}</strong>
                  </>
                }
                evidence={one.evidence}
              />
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}
