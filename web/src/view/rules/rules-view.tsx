// What is watched for, what it saw, and what it does about it.

import { useState } from "react";
import type { WatchedRule } from "#api/contract/rule.ts";
import { useApi, useChange } from "../../data/use-api.ts";
import { Button } from "../../part/button.tsx";
import { Confirm } from "../../part/dialog.tsx";
import { Icon } from "../../part/icon.tsx";
import { Answer, Problem } from "../../part/notice.tsx";
import { Page, Panel } from "../../part/panel.tsx";
import { AlertList } from "./alert-list.tsx";
import { NewRule } from "./new-rule.tsx";
import { RuleTest } from "./rule-test.tsx";
import "./rules.css";

export function RulesView() {
  const alerts = useApi("alerts", { query: { limit: 50 } }, { refetchMs: 15_000 });
  const rules = useApi("rules", {});
  const [tried, setTried] = useState<string | null>(null);
  return (
    <Page>
      <Panel title="alerts" label="Alerts">
        <Answer of={alerts} rows={3}>
          {(data) =>
            data.alerts.length === 0 ? (
              <p className="panel-body muted">No rule has fired.</p>
            ) : (
              <AlertList alerts={data.alerts} withRun />
            )
          }
        </Answer>
      </Panel>
      <Panel title="rules" label="Rules" side={<NewRule />}>
        <Answer of={rules}>
          {(data) => (
            <>
              {data.watching ? null : (
                <p className="notice warn">
                  <Icon name="warning" /> Rules are not watched on this server: watch.rules is off.
                </p>
              )}
              <RuleTable rules={data.rules} onTest={setTried} />
            </>
          )}
        </Answer>
      </Panel>
      {tried === null ? null : <RuleTest name={tried} onClose={() => setTried(null)} />}
    </Page>
  );
}

function RuleTable({
  rules,
  onTest,
}: {
  readonly rules: readonly WatchedRule[];
  readonly onTest: (name: string) => void;
}) {
  return (
    <div className="table-scroll">
      <table className="table rules-table">
        <thead>
          <tr>
            <th>rule</th>
            <th>fires when</th>
            <th>does</th>
            <th>state</th>
            <th />
          </tr>
        </thead>
        <tbody>
          {rules.map((rule) => (
            <RuleRow key={rule.name} rule={rule} onTest={onTest} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const hourS = 3600;

function RuleRow({ rule, onTest }: { readonly rule: WatchedRule; readonly onTest: (name: string) => void }) {
  const arm = useChange("armRule", ["rules", "audit"]);
  const silence = useChange("silenceRule", ["rules", "audit"]);
  const remove = useChange("deleteRule", ["rules", "audit"]);
  const [asking, setAsking] = useState(false);
  const params = { rule: rule.name };
  const isSilent = rule.silenced_until_ns !== null && Number(rule.silenced_until_ns) / 1e6 > Date.now();
  const problem = arm.error ?? silence.error ?? remove.error;
  const does = doesWhat(rule);
  return (
    <tr data-rule={rule.name}>
      <td>
        <strong>{rule.name}</strong>
        <div className="muted">
          {rule.kind === rule.name ? rule.origin : `${rule.kind}, ${rule.origin}`}
          {filterOf(rule)}
        </div>
      </td>
      <td className="rule-means">{rule.means}</td>
      <td>{does}</td>
      <td>
        <span className={rule.armed ? "badge status-warn" : "badge"}>
          {isSilent ? "silenced" : rule.armed ? "armed" : "dry run"}
        </span>
      </td>
      <td>
        <span className="row wrap">
          <Button look="small" onClick={() => onTest(rule.name)}>
            try on past runs
          </Button>
          <Button
            look="small"
            onClick={() => (rule.armed ? arm.mutate({ params, body: { armed: false } }) : setAsking(true))}
          >
            {rule.armed ? "disarm" : "arm"}
          </Button>
          <Button look="small" onClick={() => silence.mutate({ params, body: { seconds: isSilent ? 0 : 8 * hourS } })}>
            {isSilent ? "end silence" : "silence 8 h"}
          </Button>
          {rule.origin === "page" ? (
            <Button look="small" onClick={() => remove.mutate({ params })}>
              delete
            </Button>
          ) : null}
        </span>
        <Problem error={problem} />
        <Confirm
          title={`Arm ${rule.name}?`}
          open={asking}
          onClose={() => setAsking(false)}
          no="leave it a dry run"
          yes="arm it"
          look="primary"
          change={arm}
          onYes={() => {
            arm.mutate({ params, body: { armed: true } });
            setAsking(false);
          }}
        >
          <p>From now on, when it fires, it does this by itself: {does}. Who armed it is written to the audit.</p>
        </Confirm>
      </td>
    </tr>
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
