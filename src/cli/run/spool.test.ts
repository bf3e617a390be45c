import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Client } from "#cli/client.ts";
import { makeFolder } from "../../../tests/support/folder.ts";
import { replayFolder, writeRequest } from "./spool.ts";

test("a file that the disk damaged does not hold up the requests after it", async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, "0000000000.request"), "");
  const request = { route: "output", params: { run: "r" }, query: {}, body: Buffer.from("line\n") } as const;
  await writeRequest(folder, 1, request);
  const sent: unknown[] = [];
  const client = { open: async (...asked: unknown[]) => sent.push(asked) } as unknown as Client;
  expect(await replayFolder(client, folder)).toBe(1);
  expect(sent).toHaveLength(1);
  expect(readdirSync(folder)).toEqual(["0000000000.request.damaged"]);
});
