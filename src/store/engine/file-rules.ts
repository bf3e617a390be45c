// The files that a confined engine may touch, as Landlock rules for `setpriv`: its own folders, the plans of the
// outbox, which it reads, and what any Node program needs to run. Everything else on the machine is closed to it: the
// journal, blobs and secrets of its own data folder, home folders and the settings of the system.

import { existsSync, mkdirSync } from "node:fs";
import nodeModule from "node:module";
import { dirname, join, resolve } from "node:path";
import { ownFolders } from "./engine-config.ts";

type Rule = readonly [rights: string, path: string];

const look = "read-file,read-dir";
const run = `${look},execute`;
const change = `${run},write-file,truncate,refer,make-dir,make-reg,make-sym,make-sock,make-fifo,remove-dir,remove-file`;

/** Libraries, time zones, and what a process may know about itself and the machine. */
const system: readonly Rule[] = [
  ...["/usr", "/lib", "/lib64", "/nix/store", "/gnu/store"].map((path): Rule => [run, path]),
  ...["/proc", "/sys/fs/cgroup", "/sys/devices/system"].map((path): Rule => [look, path]),
  ...["/etc/ld.so.cache", "/etc/localtime", "/dev/urandom", "/dev/random"].map((path): Rule => ["read-file", path]),
  ["read-file,write-file", "/dev/null"],
];

/** Arguments for `setpriv`. Missing folders of the engine are created, since a rule needs an existing path. */
export function fileRules(program: string, dataDir: string, alsoReads?: string): string[] {
  const own = [...Object.values(ownFolders(dataDir)), ...compileCache()];
  const read = [join(dataDir, "outbox"), ...(alsoReads === undefined ? [] : [alsoReads])];
  for (const folder of [...own, ...read]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const rules: readonly Rule[] = [
    ...system,
    ["read-file,execute", process.execPath],
    [run, resolve(dirname(process.execPath), "../lib")],
    ...programRules(program),
    ...own.map((path): Rule => [change, path]),
    ...read.map((path): Rule => [look, path]),
    // To create its socket, and remove one that was left behind.
    ["make-sock,remove-file", dataDir],
  ];
  const there = rules.filter(([, path]) => existsSync(path));
  return ["--landlock-access=fs", ...there.map(([rights, path]) => `--landlock-rule=path-beneath:${rights}:${path}`)];
}

/** Without it every start compiles the program of the engine again. */
function compileCache(): string[] {
  const folder = nodeModule.getCompileCacheDir();
  return folder === undefined ? [] : [dirname(folder)];
}

/** The files of the program and the packages that it loads, but not the folders around them, where data may be. */
function programRules(program: string): Rule[] {
  const above: string[] = [];
  for (let folder = dirname(program); folder !== dirname(folder); folder = dirname(folder)) above.push(folder);
  const root = above.find((folder) => existsSync(join(folder, "package.json"))) ?? dirname(program);
  const packages = above.map((folder) => join(folder, "node_modules"));
  const folders = [join(root, "src"), join(root, "dist"), ...packages];
  return [["read-file", join(root, "package.json")], ...folders.map((path): Rule => [run, path])];
}
