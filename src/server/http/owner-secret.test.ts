import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { makeFolder } from "../../../tests/support/folder.ts";
import { noteSyncs } from "../../../tests/support/noted-syncs.ts";
import { ownerSecretFile, readOwnerSecret, readSealSecret } from "./owner-secret.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = makeFolder();
});

it("makes secrets once, for their owner alone", () => {
  const [login, owner] = [readSealSecret(dataDir, "login"), readOwnerSecret(dataDir)];
  expect([Buffer.from(login).length, owner.startsWith("trib_owner_")]).toEqual([32, true]);
  expect([readSealSecret(dataDir, "login"), readOwnerSecret(dataDir)]).toEqual([login, owner]);
  for (const name of ["login-secret", ownerSecretFile]) expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
});

it.runIf(process.platform === "linux")("has a secret and its name on the disk before anybody hears of it", () => {
  const synced = noteSyncs();
  readSealSecret(dataDir, "login");
  expect(synced).toEqual([join(dataDir, "login-secret"), dataDir]);
  writeFileSync(join(dataDir, "login-secret"), "short");
  readSealSecret(dataDir, "login");
  expect(synced).toHaveLength(4);
  readSealSecret(dataDir, "login");
  expect(synced).toHaveLength(4);
});

it("replaces a secret that was cut off while it was written, instead of sealing logins with nothing", () => {
  for (const rest of ["", "short"]) {
    for (const name of ["login-secret", ownerSecretFile]) writeFileSync(join(dataDir, name), rest);
    expect(Buffer.from(readSealSecret(dataDir, "login")).length).toBe(32);
    expect(readOwnerSecret(dataDir).length).toBeGreaterThan(40);
    expect(readFileSync(join(dataDir, "login-secret")).length).toBe(32);
  }
});
