import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../../tests/support/folder.ts";
import { gatherLeft } from "./flight-record.ts";

test("what cannot be read costs nothing else that was left", async () => {
  const folder = makeFolder();
  mkdirSync(join(folder, "flight_rank_0"));
  writeFileSync(join(folder, "flight_rank_0", "x"), "");
  writeFileSync(join(folder, "error.json"), '{"message": "it failed"}');
  expect(await gatherLeft(folder)).toEqual([
    { type: "error_report", payload: { message: "it failed" } },
    { type: "flight_record_refused", payload: { reason: expect.stringContaining("EISDIR") } },
  ]);
});
