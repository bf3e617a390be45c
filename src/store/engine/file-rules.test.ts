import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { expect, it } from "vitest";
import { makeFolder } from "../../../tests/support/folder.ts";
import { fileRules } from "./file-rules.ts";

function makeRules(alsoReads?: string): { readonly dataDir: string; rightsTo(path: string): string[] } {
  const dataDir = makeFolder();
  const program = new URL("engine-main.ts", import.meta.url).pathname;
  const rules = fileRules(program, dataDir, alsoReads).flatMap((word) => {
    const [, rights, path] = /^--landlock-rule=path-beneath:([^:]+):(.+)$/.exec(word) ?? [];
    return rights === undefined || path === undefined ? [] : [{ rights: rights.split(","), path }];
  });
  const isWithin = (path: string, folder: string): boolean => !relative(folder, path).startsWith("..");
  return {
    dataDir,
    rightsTo: (path) => rules.filter((rule) => isWithin(path, rule.path)).flatMap(({ rights }) => rights),
  };
}

it("the journal, blobs and secrets of its data folder are closed to the engine", () => {
  const { dataDir, rightsTo } = makeRules();
  for (const name of ["journal/1.seg", "blobs/a", "owner-secret", "login-secret"]) {
    expect(rightsTo(join(dataDir, name))).toEqual(["make-sock", "remove-file"]);
  }
});

it("so are home folders and the accounts of the system", () => {
  const { rightsTo } = makeRules();
  for (const path of ["/etc/passwd", join(homedir(), ".ssh/id_ed25519"), "/var/lib/x", "/tmp/x"]) {
    expect(rightsTo(path)).toEqual([]);
  }
});

it("it writes to its own folders, and only reads the outbox and the program", () => {
  const { dataDir, rightsTo } = makeRules();
  for (const name of ["store", "tmp", "engine"]) expect(rightsTo(join(dataDir, name))).toContain("write-file");
  for (const path of [join(dataDir, "outbox"), new URL("engine.ts", import.meta.url).pathname]) {
    expect(rightsTo(path)).toContain("read-file");
    expect(rightsTo(path)).not.toContain("write-file");
  }
});

it("a folder that statements may name is read, not written to", () => {
  const named = makeFolder();
  mkdirSync(join(named, "tables"));
  const { rightsTo } = makeRules(named);
  expect(rightsTo(join(named, "tables/spans.native"))).toEqual(["read-file", "read-dir"]);
});
