// Keys, retention, the look of the page, and who did what.

import { useState } from "react";
import type { Scope } from "#api/contract/admin.ts";
import { themeChoices, useThemeChoice } from "../../app/theme.ts";
import { useApi, useChange } from "../../data/use-api.ts";
import { Choice } from "../../part/choice.tsx";
import { Answer, CommandLine, Problem } from "../../part/notice.tsx";
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
    <div className="scroll">
      <div className="page stack" style={{ maxWidth: 980 }}>
        <section className="panel" aria-label="Appearance">
          <header className="panel-head">
            <h2>appearance</h2>
          </header>
          <div className="panel-body row">
            <Choice label="Theme" options={themeChoices} value={theme} onChange={setTheme} />
          </div>
        </section>
        <Keys />
        <Retention />
        <Audit />
        <section className="panel" aria-label="Session">
          <header className="panel-head">
            <h2>session</h2>
          </header>
          <div className="panel-body row wrap">
            <span>
              workspace <strong>{session.data?.workspace ?? "–"}</strong>, allowed:{" "}
              {session.data?.scopes.join(", ") ?? "–"}
            </span>
            <span className="grow" />
            {session.data?.key_needed === true ? (
              <button type="button" className="button" onClick={() => logout.mutate({})}>
                log out
              </button>
            ) : null}
          </div>
        </section>
      </div>
    </div>
  );
}

function Keys() {
  const keys = useApi("keys", {});
  const create = useChange("createKey", ["keys", "audit"]);
  const revoke = useChange("deleteKey", ["keys", "audit"]);
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<readonly Scope[]>(["ingest"]);
  return (
    <section className="panel" aria-label="API keys">
      <header className="panel-head">
        <h2>API keys</h2>
      </header>
      <div className="panel-body stack">
        <Answer of={keys} rows={2}>
          {(data) =>
            data.keys.length === 0 ? (
              <p className="muted">
                No key exists. On this machine's own address everything is open; a server that listens elsewhere needs a
                key.
              </p>
            ) : (
              <table className="table">
                <thead>
                  <tr>
                    <th>name</th>
                    <th>scopes</th>
                    <th>workspace</th>
                    <th>created</th>
                    <th>last used</th>
                    <th />
                  </tr>
                </thead>
                <tbody>
                  {data.keys.map((key) => (
                    <tr key={key.id}>
                      <td>{key.name}</td>
                      <td>{key.scopes.join(", ")}</td>
                      <td>{key.workspace}</td>
                      <td>
                        <When ns={key.created_ns} />
                      </td>
                      <td>
                        <When ns={key.last_used_ns} />
                      </td>
                      <td className="num">
                        <button
                          type="button"
                          className="button small danger"
                          onClick={() => revoke.mutate({ params: { key: key.id } })}
                        >
                          revoke
                        </button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )
          }
        </Answer>
        <form
          className="row wrap"
          onSubmit={(event) => {
            event.preventDefault();
            create.mutate({ body: { name, scopes: [...chosen] } }, { onSuccess: () => setName("") });
          }}
        >
          <input
            className="field"
            placeholder="name of a new key"
            aria-label="Name of a new key"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          {scopes.map(([scope, means]) => (
            <label key={scope} className="row" title={means} style={{ gap: 4 }}>
              <input
                type="checkbox"
                checked={chosen.includes(scope)}
                onChange={() =>
                  setChosen(chosen.includes(scope) ? chosen.filter((each) => each !== scope) : [...chosen, scope])
                }
              />
              {scope}
            </label>
          ))}
          <button
            type="submit"
            className="button primary"
            disabled={name.trim() === "" || chosen.length === 0 || create.isPending}
          >
            create
          </button>
        </form>
        {create.data === undefined ? null : (
          <div className="notice warn stack">
            <p>Copy the key now; it is not shown again.</p>
            <CommandLine text={create.data.key} />
          </div>
        )}
        {create.error === null ? null : <Problem error={create.error} />}
        {revoke.error === null ? null : <Problem error={revoke.error} />}
      </div>
    </section>
  );
}

function Retention() {
  const retention = useApi("retention", {});
  const change = useChange("setRetention", ["retention", "audit"]);
  const [days, setDays] = useState<string | null>(null);
  const shown = days ?? (retention.data?.days === null ? "" : String(retention.data?.days ?? ""));
  return (
    <section className="panel" aria-label="Retention">
      <header className="panel-head">
        <h2>retention</h2>
      </header>
      <form
        className="panel-body row wrap"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ body: { days: shown === "" ? null : Number(shown) } }, { onSuccess: () => setDays(null) });
        }}
      >
        <label className="row">
          delete runs
          <input
            className="field num"
            type="number"
            min="1"
            max="36500"
            value={shown}
            placeholder="never"
            onChange={(event) => setDays(event.target.value)}
            style={{ width: 90 }}
          />
          days after their last record
        </label>
        <button type="submit" className="button" disabled={days === null || change.isPending}>
          save
        </button>
        <span className="muted">
          {retention.data?.set_by === "configuration" ? "as the configuration says; " : ""}empty keeps them for ever
        </span>
        {change.error === null ? null : <Problem error={change.error} />}
      </form>
    </section>
  );
}

function Audit() {
  const audit = useApi("audit", { query: { limit: 50 } });
  return (
    <section className="panel" aria-label="Audit">
      <header className="panel-head">
        <h2>who did what</h2>
      </header>
      <Answer of={audit} rows={2}>
        {(data) =>
          data.entries.length === 0 ? (
            <p className="panel-body muted">Nothing was changed yet.</p>
          ) : (
            <table className="table">
              <tbody>
                {data.entries.map((entry) => (
                  <tr key={`${entry.at_ns} ${entry.action} ${entry.target}`}>
                    <td>
                      <When ns={entry.at_ns} />
                    </td>
                    <td>{entry.by}</td>
                    <td>{entry.action}</td>
                    <td>
                      <code>{entry.target}</code>
                    </td>
                    <td>
                      <code className="muted">{entry.detail}</code>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Answer>
    </section>
  );
}
