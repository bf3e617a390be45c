// Parameters with where they came from, and the environment.

import { useState } from "react";
import type { ParamRow } from "#api/contract/record.ts";
import { useRunApi, useRunClock } from "../../clock/run-clock.tsx";
import { CopyButton } from "../../part/button.tsx";
import { TextField } from "../../part/field.tsx";
import { AnswerPanel, Page } from "../../part/panel.tsx";
import { WholeRecord } from "../../part/record.tsx";
import { Table } from "../../part/table.tsx";
import { TextTable } from "./overview-panels.tsx";

export function Params() {
  const [search, setSearch] = useState("");
  return (
    <Page>
      <TextField
        data-search
        label="Find a parameter or variable"
        value={search}
        onChange={setSearch}
        style={{ width: 280 }}
      />
      <ParamTables search={search} />
    </Page>
  );
}

export function ParamTables({ search }: { readonly search: string }) {
  const { run } = useRunClock();
  const params = useRunApi("params", {});
  const found = (text: string) => text.toLowerCase().includes(search.toLowerCase());
  const env = Object.entries(run.env).filter(([name, value]) => found(`${name} ${value}`));
  const source = Object.entries(run.source).filter(([name, value]) => found(`${name} ${value}`));
  return (
    <div className="columns">
      <AnswerPanel
        title="parameters"
        side={<CopyButton text={() => toJson(run.params)} label="copy all as JSON" />}
        of={params}
      >
        {(data) => (
          <Table
            look="param-table"
            rows={data.params.filter((param) => found(`${param.name} ${param.value}`))}
            keyOf={(param) => `${param.name} ${param.worker} ${param.origin}`}
            none={data.params.length === 0 ? "No parameters were sent." : ""}
            columns={[
              { cell: ({ name }) => <span title={name}>{name}</span>, look: "muted" },
              { cell: (param) => <ParamValue run={run.id} param={param} /> },
              { cell: ({ origin, worker }) => `${origin === "param" ? "" : origin} ${worker}`, look: "muted num" },
            ]}
          />
        )}
      </AnswerPanel>
      <TextTable title="environment" rows={env} none="No environment was sent." />
      <TextTable title="source" rows={source} none="No source was sent." />
    </div>
  );
}

function ParamValue({ run, param }: { readonly run: string; readonly param: ParamRow }) {
  return (
    <>
      <code>{param.value}</code> <WholeRecord run={run} record={param.id} bytes={param.cut_from} />
      {param.earlier.map((each) => (
        <code key={each.ts_ns} className="muted" title="an earlier value">
          {" "}
          ← {each.value}
        </code>
      ))}
    </>
  );
}

/** The values are JSON text already; joining them keeps every digit. */
function toJson(params: Readonly<Record<string, string>>): string {
  const rows = Object.entries(params).map(([name, value]) => `  ${JSON.stringify(name)}: ${value}`);
  return `{\n${rows.join(",\n")}\n}`;
}
