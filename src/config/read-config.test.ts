import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { makeFolder } from "../../tests/support/folder.ts";
import { ConfigError, type ConfigSources, readConfig } from "./read-config.ts";
import { settings } from "./settings.ts";

let folder: string;
beforeEach(() => {
  folder = makeFolder();
});

function read(sources: Partial<ConfigSources> = {}) {
  return readConfig({ flags: {}, env: {}, ...sources });
}

function writeToml(text: string): string {
  const file = join(folder, "tributary.toml");
  writeFileSync(file, text);
  return file;
}

function problemsOf(sources: Partial<ConfigSources>): readonly string[] {
  try {
    read(sources);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("where a setting comes from", () => {
  it("has a default for every setting", () => {
    const config = read();
    expect(Object.keys(config).sort()).toEqual(Object.keys(settings).sort());
    expect(config.httpAddress).toEqual({ host: "127.0.0.1", port: 7077 });
    expect(config.xtrackAddress).toEqual({ host: "127.0.0.1", port: 9999 });
    expect(config.dataDir).toBe(resolve(".tributary"));
    expect(config.bodyBytesMax).toBe(64 * 1024 * 1024);
    expect(config.sessionGapMs).toBe(600_000);
  });

  it("takes a flag before the environment, and that before the file", () => {
    const file = writeToml('[run]\nsilence = "1m"\n[cirron]\nsession_gap = "2m"\n[log]\nlevel = "warn"\n');
    const env = { TRIBUTARY_CIRRON_SESSION_GAP: "3m", TRIBUTARY_LOG_LEVEL: "error" };
    const config = read({ file, env, flags: { logLevel: "debug" } });
    expect([config.runSilenceMs, config.sessionGapMs, config.logLevel]).toEqual([60_000, 180_000, "debug"]);
  });

  it("is frozen, with its lists and tables", () => {
    const config = read({ env: { TRIBUTARY_HTTP_HOSTS: "a.example, b.example" } });
    expect(Object.isFrozen(config) && Object.isFrozen(config.httpHosts) && Object.isFrozen(config.httpAddress)).toBe(
      true,
    );
    expect(config.httpHosts).toEqual(["a.example", "b.example"]);
  });

  it("reads a table of retention ages from the file and from one variable", () => {
    const file = writeToml('[retention]\nage = "off"\nworkspaces = { scratch = "14d", "team a" = "90d" }\n');
    expect(read({ file }).retentionByWorkspaceMs).toEqual({ scratch: 14 * 86_400_000, "team a": 90 * 86_400_000 });
    const env = { TRIBUTARY_RETENTION_WORKSPACES: "scratch=14d" };
    expect(read({ env }).retentionByWorkspaceMs).toEqual({ scratch: 14 * 86_400_000 });
  });

  it("ignores variables that belong to tests and benchmarks", () => {
    expect(problemsOf({ env: { TRIBUTARY_TEST_ALL: "1", TRIBUTARY_BENCH_ROWS: "5", HOME: "/" } })).toEqual([]);
  });
});

describe("what it says about a mistake", () => {
  it("refuses a workspace with a slash, which would make group keys ambiguous", () => {
    expect(problemsOf({ env: { TRIBUTARY_WORKSPACE: "team/a" } })).toEqual([
      expect.stringContaining("must be text without a slash"),
    ]);
  });

  it("names the file, the key and the nearest key", () => {
    const file = writeToml('[http]\nlisten_ = "127.0.0.1:1"\n');
    expect(problemsOf({ file })).toEqual([`${file}: there is no setting http.listen_; did you mean http.listen?`]);
  });

  it("names what is allowed", () => {
    const file = writeToml('[xtrack]\nacks = "maybe"\n[limits]\nbody = "64 pounds"\n');
    expect(problemsOf({ file })).toEqual([
      `${file}: xtrack.acks must be "asked" or "always" or "never", not "maybe"`,
      `${file}: limits.body must be a number of bytes, or a size such as "64 MiB", not "64 pounds"`,
    ]);
  });

  it("names a mistyped variable and a wrong flag", () => {
    expect(problemsOf({ env: { TRIBUTARY_DATAA: "x" } })).toEqual([
      "TRIBUTARY_DATAA is not a setting; did you mean TRIBUTARY_DATA?",
    ]);
    expect(problemsOf({ flags: { httpAddress: "7077" } })[0]).toContain("--http must be an address");
  });

  it("never prints a secret", () => {
    const file = writeToml("[store]\npassword = 12345678\n");
    expect(problemsOf({ file })).toEqual([`${file}: store.password must be text`]);
  });

  it("points at the place where the file is no TOML", () => {
    const file = writeToml("a = 1\nb = = 2\n");
    expect(problemsOf({ file })[0]).toMatch(/tributary\.toml:2:\d+: /);
  });

  it("wants the file that was named to exist", () => {
    const file = join(folder, "none.toml");
    expect(problemsOf({ file })).toEqual([`${file} cannot be read: there is no such file`]);
    expect(problemsOf({ file: import.meta.dirname })).toEqual([
      `${import.meta.dirname} cannot be read: it is a folder`,
    ]);
  });

  it("wants secrets that cannot be guessed, and a bus only where a store is shared", () => {
    const env = { TRIBUTARY_AUTH_ADMIN_KEY: "short", TRIBUTARY_BUS_URL: "nats://h:4222", TRIBUTARY_BUS_PREFIX: "a.>" };
    expect(problemsOf({ env })).toEqual([
      "auth.admin_key must have at least 32 characters and no blanks",
      "bus.url needs store.url: the embedded engine belongs to one collector",
      "bus.prefix must be words of letters, digits, - and _ with dots between",
    ]);
  });

  it("refuses the secrets of the example, which everybody knows", () => {
    const env = { TRIBUTARY_AUTH_LOGIN_SECRET: "change-me-login-secret-change-me-0" };
    expect(problemsOf({ env })).toEqual([expect.stringContaining("auth.login_secret is still the one of the example")]);
  });

  it("wants settings that belong together to be given together", () => {
    const env = { TRIBUTARY_HTTP_TLS_CERT: "a", TRIBUTARY_BLOBS_KIND: "s3", TRIBUTARY_STORE_CLUSTER: "c" };
    expect(problemsOf({ env })).toEqual([
      "http.tls_cert and http.tls_key must be given together",
      'blobs.kind "s3" needs blobs.bucket',
      "store.cluster needs store.url",
    ]);
  });
});
