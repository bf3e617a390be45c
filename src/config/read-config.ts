// Reads the settings: flags, then the environment, then tributary.toml, then the defaults. The result is frozen.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse, TomlError } from "smol-toml";
import { isTable, type TomlValue } from "./kinds.ts";
import { type Config, type Setting, type SettingName, settings, toEnvName } from "./settings.ts";

/** Something wrong with the settings; `problems` has one sentence for each thing to mend. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly kind = "config";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

export interface ConfigSources {
  /** What the command line gave, by setting. */
  readonly flags: Partial<Record<SettingName, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file named by --config; else `tributary.toml` in the working directory is read when it exists. */
  readonly file?: string;
}

const byName = Object.entries(settings) as [SettingName, Setting<unknown>][];
const byKey = new Map(byName.map(([name, setting]) => [setting.key, { name, setting }]));

// Variables that mean something to us but are not settings.
const otherVariables = new Set(["TRIBUTARY_CONFIG", "TRIBUTARY_RUN_ID"]);

/** Throws a ConfigError that names every wrong setting, not only the first. */
export function readConfig({ flags, env, file }: ConfigSources): Config {
  const problems: string[] = [];
  const values: Partial<Record<SettingName, unknown>> = {};
  const take = (name: SettingName, where: string, input: TomlValue) => {
    const { kind } = settings[name] as Setting<unknown>;
    const value = kind.read(input);
    if (value !== undefined) values[name] = value;
    else problems.push(`${where} must be ${kind.allowed}${kind.secret ? "" : `, not ${format(input)}`}`);
  };

  for (const [name, setting] of byName) values[name] = readDefault(setting);
  const path = file ?? env["TRIBUTARY_CONFIG"];
  const toml = readToml(resolve(path ?? "tributary.toml"), path !== undefined, problems);
  for (const [key, value] of flatten(toml.table)) {
    const known = byKey.get(key);
    if (known) take(known.name, `${toml.path}: ${key}`, value);
    else problems.push(`${toml.path}: there is no setting ${key}${suggest(key, byKey.keys())}`);
  }
  const variables = new Map(byName.map(([name, setting]) => [toEnvName(setting), name]));
  for (const [variable, value] of Object.entries(env)) {
    if (value === undefined || !variable.startsWith("TRIBUTARY_") || isForeign(variable)) continue;
    const name = variables.get(variable);
    if (name) take(name, variable, value);
    else problems.push(`${variable} is not a setting${suggest(variable, variables.keys())}`);
  }
  for (const [name, value] of Object.entries(flags) as [SettingName, string][]) {
    take(name, settings[name].flag ?? settings[name].key, value);
  }
  checkTogether(values as Config, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(values as Config);
}

/** Whether a variable is not a setting: the tests' own, or one for another part of the program. */
function isForeign(variable: string): boolean {
  return (
    otherVariables.has(variable) || variable.startsWith("TRIBUTARY_TEST_") || variable.startsWith("TRIBUTARY_BENCH_")
  );
}

/** Shorter secrets could be guessed. */
const secretCharsMin = 32;
/** How the secrets in deploy/example.env begin. */
const exampleSecret = "change-me";

function checkTogether(config: Config, problems: string[]): void {
  if ((config.tlsCert === "") !== (config.tlsKey === "")) {
    problems.push("http.tls_cert and http.tls_key must be given together");
  }
  if (config.blobsKind === "s3" && config.blobsBucket === "") problems.push('blobs.kind "s3" needs blobs.bucket');
  for (const [key, text] of [
    ["auth.admin_key", config.adminKey],
    ["auth.login_secret", config.loginSecret],
  ] as const)
    if (text !== "" && (text.length < secretCharsMin || /\s/.test(text)))
      problems.push(`${key} must have at least ${secretCharsMin} characters and no blanks`);
    else if (text.startsWith(exampleSecret))
      problems.push(
        `${key} is still the one of the example, which everybody knows; take one from: openssl rand -hex 24`,
      );
  if (config.busUrl !== "" && config.storeUrl === "")
    problems.push("bus.url needs store.url: the embedded engine belongs to one collector");
  if (!/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(config.busPrefix))
    problems.push("bus.prefix must be words of letters, digits, - and _ with dots between");
  if (config.storeCluster !== "" && config.storeUrl === "") problems.push("store.cluster needs store.url");
}

function readDefault<T>(setting: Setting<T>): T {
  const value = setting.kind.read(setting.default);
  if (value === undefined) throw new Error(`the default of ${setting.key} is not ${setting.kind.allowed}`);
  return value;
}

type Table = { [key: string]: TomlValue };

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "this user may not",
};

function readToml(path: string, mustExist: boolean, problems: string[]): { path: string; table: Table } {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    if (mustExist || code !== "ENOENT") problems.push(`${path} cannot be read: ${unreadable[code] ?? code}`);
    return { path, table: {} };
  }
  try {
    return { path, table: parse(text) as Table };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split("\n")[0]?.replace(/^Invalid TOML document: /, "");
    problems.push(`${path}:${error.line}:${error.column}: ${reason}`);
    return { path, table: {} };
  }
}

/** The dotted keys of nested tables; a table that is a setting's own value stays whole. */
function flatten(table: Table, prefix = ""): [string, TomlValue][] {
  return Object.entries(table).flatMap(([name, value]) => {
    const key = prefix + name;
    return isTable(value) && !byKey.has(key) ? flatten(value, `${key}.`) : [[key, value] as [string, TomlValue]];
  });
}

function suggest(word: string, candidates: Iterable<string>): string {
  const nearest = findNearest(word, candidates);
  return nearest === undefined ? "" : `; did you mean ${nearest}?`;
}

function format(input: TomlValue): string {
  return typeof input === "bigint" ? String(input) : JSON.stringify(input);
}

/** The known word nearest to a mistyped one, or undefined when none is near enough. */
function findNearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = countEdits(word, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** How many letters must be added, removed or replaced to make one word the other. */
function countEdits(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
