// Keys, retention, the look of the page, and who did what.

import { useState } from "react";
import type { Scope } from "#api/contract/admin.ts";
import { themeChoices, useThemeChoice } from "../../app/theme.ts";
import { useApi, useChange } from "../../data/use-api.ts";
import { Button } from "../../part/button.tsx";
import { Choice, Form, TextField } from "../../part/field.tsx";
import { Answer, CommandLine, Problem } from "../../part/notice.tsx";
import { AnswerPanel, Page, Panel } from "../../part/panel.tsx";
import { Table } from "../../part/table.tsx";
import { toggled } from "../../part/toggled.ts";
import { When } from "../../part/when.tsx";

const scopes: readonly (readonly [Scope, string])[] = [
  ["ingest", "send records"],
  ["read", "see everything"],
  ["control", "edit runs, send commands"],
  ["admin", "keys, deletion, SQL"],
];

export function SettingsView() {
  const [theme, setTheme] = useThemeChoice();
  const session = useApi("session", {});
  const logout = useChange("logout", ["session"]);
  return (
    <Page maxWidth={980}>
      <Panel title="appearance" body="row">
        <Choice label="Theme" options={themeChoices} value={theme} onChange={setTheme} />
      </Panel>
      <Keys />
      <Retention />
      <Audit />
      <Panel title="session" body="row wrap">
        <span>
          workspace <strong>{session.data?.workspace ?? "–"}</strong>, allowed: {session.data?.scopes.join(", ") ?? "–"}
        </span>
        <span className="grow" />
        {session.data?.key_needed === true ? <Button onClick={() => logout.mutate({})}>log out</Button> : null}
      </Panel>
    </Page>
  );
}

function Keys() {
  const keys = useApi("keys", {});
  const create = useChange("createKey", ["keys", "audit"]);
  const revoke = useChange("deleteKey", ["keys", "audit"]);
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<readonly Scope[]>(["ingest"]);
  return (
    <Panel title="API keys">
      <Answer of={keys} rows={2}>
        {(data) => (
          <Table
            rows={data.keys}
            keyOf={(key) => key.id}
            none="No key exists. On this machine's own address everything is open; a server that listens elsewhere needs a key."
            columns={[
              { head: "name", cell: (key) => key.name },
              { head: "scopes", cell: (key) => key.scopes.join(", ") },
              { head: "workspace", cell: (key) => key.workspace },
              { head: "created", cell: (key) => <When ns={key.created_ns} /> },
              { head: "last used", cell: (key) => <When ns={key.last_used_ns} /> },
              {
                cell: (key) => (
                  <Button look="small danger" onClick={() => revoke.mutate({ params: { key: key.id } })}>
                    revoke
                  </Button>
                ),
                look: "num",
              },
            ]}
          />
        )}
      </Answer>
      <div className="panel-body stack">
        <Form
          className="row wrap"
          onSubmit={() => create.mutate({ body: { name, scopes: [...chosen] } }, { onSuccess: () => setName("") })}
        >
          <TextField label="Name of a new key" value={name} onChange={setName} />
          {scopes.map(([scope, means]) => (
            <label key={scope} className="row" title={means} style={{ gap: 4 }}>
              <input
                type="checkbox"
                checked={chosen.includes(scope)}
                onChange={() => setChosen(toggled(chosen, scope))}
              />
              {scope}
            </label>
          ))}
          <Button type="submit" look="primary" disabled={name.trim() === "" || chosen.length === 0 || create.isPending}>
            create
          </Button>
        </Form>
        {create.data === undefined ? null : (
          <div className="notice warn stack">
            <p>Copy the key now; it is not shown again.</p>
            <CommandLine text={create.data.key} />
          </div>
        )}
        <Problem error={create.error} />
        <Problem error={revoke.error} />
      </div>
    </Panel>
  );
}

function Retention() {
  const retention = useApi("retention", {});
  const change = useChange("setRetention", ["retention", "audit"]);
  const [days, setDays] = useState<string | null>(null);
  const shown = days ?? (retention.data?.days === null ? "" : String(retention.data?.days ?? ""));
  return (
    <Panel title="retention">
      <Form
        className="panel-body row wrap"
        onSubmit={() =>
          change.mutate({ body: { days: shown === "" ? null : Number(shown) } }, { onSuccess: () => setDays(null) })
        }
      >
        <label className="row">
          delete runs
          <TextField
            look="num"
            type="number"
            min="1"
            max="36500"
            value={shown}
            placeholder="never"
            onChange={setDays}
            style={{ width: 90 }}
          />
          days after their last record
        </label>
        <Button type="submit" disabled={days === null || change.isPending}>
          save
        </Button>
        <span className="muted">
          {retention.data?.set_by === "configuration" ? "as the configuration says; " : ""}empty keeps them for ever
        </span>
        <Problem error={change.error} />
      </Form>
    </Panel>
  );
}

function Audit() {
  const audit = useApi("audit", { query: { limit: 50 } });
  return (
    <AnswerPanel title="who did what" label="Audit" of={audit}>
      {(data) => (
        <Table
          rows={data.entries}
          keyOf={(entry) => `${entry.at_ns} ${entry.action} ${entry.target}`}
          none="No changes yet."
          columns={[
            { cell: (entry) => <When ns={entry.at_ns} /> },
            { cell: (entry) => entry.by },
            { cell: (entry) => entry.action },
            { cell: (entry) => <code>{entry.target}</code> },
            { cell: (entry) => <code className="muted">{entry.detail}</code> },
          ]}
        />
      )}
    </AnswerPanel>
  );
}
