import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { makeFolder } from "../../../tests/support/folder.ts";
import { noteSyncs } from "../../../tests/support/noted-syncs.ts";
import { LoggedOut } from "./logged-out.ts";

let folder: string;
beforeEach(() => {
  folder = makeFolder();
});

it("remembers over a restart which logins are over, and forgets those that would be by now", () => {
  const path = join(folder, "logged-out");
  const first = new LoggedOut(path, 0);
  first.add("key.1000.seal");
  first.add("key.5000.seal");
  first.add("key.5000.seal");
  const second = new LoggedOut(path, 2000);
  expect([second.has("key.5000.seal"), second.has("key.1000.seal"), second.has("other")]).toEqual([true, false, false]);
  expect(readFileSync(path, "utf8").trim().split("\n")).toHaveLength(1);
  expect(readFileSync(path, "utf8")).not.toContain("seal");
});

it.runIf(process.platform === "linux")("has on the disk that a login is over before it says so", () => {
  const path = join(folder, "logged-out");
  const synced = noteSyncs();
  new LoggedOut(path, 0).add("key.1000.seal");
  expect(synced).toEqual([path, folder]);
  // The shorter file takes the place of the old one only when it is whole.
  new LoggedOut(path, 2000);
  expect(synced.slice(2)).toEqual([`${path}.tmp`, folder]);
});
