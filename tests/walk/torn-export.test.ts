import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createClient } from "#cli/client.ts";
import { importPaths } from "#cli/import/import.ts";
import { testApp } from "../support/app.ts";
import { makeFolder } from "../support/folder.ts";

it("takes the other files of a folder although a run of one has edits and no records", async () => {
  const folder = makeFolder();
  const app = await testApp();
  const lines = (run: string) => [
    `{"tributary":1,"kind":"run","run":"${run}","edit":{"name":"edited","notes":"","tags":[],"archived":false}}\n`,
    `{"tributary":1,"kind":"xtrack","record":{"v":1,"t":"run_start","m":{"seq":1,"ts":1},"p":{"run_id":"${run}"}}}\n`,
  ];
  writeFileSync(join(folder, "a.jsonl"), lines("torn")[0] as string);
  writeFileSync(join(folder, "b.jsonl"), lines("whole").join(""));
  const client = createClient(app.app.url, "");
  const stop = new AbortController().signal;
  const { accepted, faults } = await importPaths({ client, paths: [folder], speed: "instant", follow: false, stop });
  expect(accepted).toBe(1);
  expect(faults).toEqual([
    { file: join(folder, "a.jsonl"), code: "run_not_found", message: expect.stringContaining("torn") },
  ]);
  expect((await app.get("/api/v1/runs")).body).toMatchObject({ runs: [{ id: "whole", name: "edited" }] });
});
