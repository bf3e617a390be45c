// A data folder of every version that was released opens in this one. They are written by scripts/keep-folder.ts.

import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runInTest } from "#cli/run-cli.testing.ts";
import { readConfig } from "#config/read-config.ts";
import { openApp } from "#server/app/app.ts";
import { createLog } from "#server/log.ts";
import { askStore } from "../support/ask-store.ts";
import { makeFolder } from "../support/folder.ts";

const fixtures = join(import.meta.dirname, "../fixtures");
/** The rows of each folder, with those of the batch that lay in its journal. */
const held: Readonly<Record<string, object>> = {
  "0.1.0": { spans: 77, marks: 13, snapshots: 39, metrics: 283, logs: 3, params: 14, events: 45, nodes: 6 },
};
const versions = readdirSync(join(fixtures, "folders")).map((name) => name.replace(/\.tar\.gz$/, ""));
const imported = ["cirron/torch_full", "xtrack/file_full/events.bin", "semantiva/plain_file"];

test.each(versions)("a folder of %s opens, knows what it holds and has what lay in its journal", async (version) => {
  const dataDir = makeFolder();
  execFileSync("tar", ["xzf", join(fixtures, "folders", `${version}.tar.gz`), "-C", dataDir]);
  const flags = {
    dataDir,
    httpAddress: "127.0.0.1:0",
    xtrackAddress: "off",
    otlpGrpcAddress: "off",
    watching: "off",
  };
  const app = await openApp(readConfig({ flags, env: {} }), createLog({ level: "error", format: "json" }));
  try {
    const get = async (path: string): Promise<unknown> => (await fetch(app.url + path)).json();
    await get("/readyz?drained=1");
    const counts = async (): Promise<Record<string, number>> => {
      const tables = ["spans", "marks", "snapshots", "metrics", "logs", "params", "events", "nodes"];
      const { store } = app.collector;
      const counted = tables.map(async (table) => {
        const sql = `SELECT toUInt32(count()) AS n FROM ${store.database}.${table} FINAL`;
        return [table, (await askStore<{ n: number }>(store, { sql }))[0]?.n ?? 0] as const;
      });
      return Object.fromEntries(await Promise.all(counted));
    };
    const before = await counts();
    expect(before).toEqual(held[version]);
    expect(await get("/api/v1/runs/left-in-the-journal")).toMatchObject({ counts: { spans: 1 } });
    // What it holds is known: importing it again adds nothing.
    const again = await runInTest(["import", ...imported.map((file) => join(fixtures, file)), "--server", app.url]);
    expect([again.code, again.err]).toEqual([0, ""]);
    await get("/readyz?drained=1");
    expect(await counts()).toEqual(before);
  } finally {
    await app.close();
  }
});
