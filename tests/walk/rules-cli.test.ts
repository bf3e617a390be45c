// `tributary rules` and `tributary gate` against a real server.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { runInTest } from "#cli/run-cli.testing.ts";
import { suiteApp } from "../support/app.ts";
import { toFrame } from "../support/frames.ts";

const walk = suiteApp({ watching: "on" });
beforeAll(async () => {
  const octets = { "content-type": "application/octet-stream" };
  const event = (seq: number, type: string, payload: object) =>
    toFrame({ type, seq, ts: Date.now() * 1000 - 60_000_000 + seq * 1_000_000, wid: "w0", payload: { ...payload } });
  for (const [id, value] of [
    ["sound", 1],
    ["broken", Number.NaN],
  ] as const) {
    const start = event(1, "run_start", { run_id: id });
    const points = Array.from({ length: 20 }, (_, at) => {
      const text = `{"v":1,"t":"metric","m":{"seq":${at + 2},"ts":${Date.now() * 1000 + at},"wid":"w0"},"p":{"run_id":"${id}","key":"loss","value":${at < 5 ? 1 : value},"step":${at}}}`;
      const head = Buffer.alloc(4);
      head.writeUInt32BE(Buffer.byteLength(text));
      return Buffer.concat([head, Buffer.from(text)]);
    });
    await walk.post("/v1/xtrack?wait=1", Buffer.concat([start, ...points]), octets);
  }
});

const cli = (...args: string[]) => runInTest([...args, "--server", walk.app.url]);

function rulesFile(text: string): string {
  const path = join(walk.dataDir, "ci.toml");
  writeFileSync(path, text);
  return path;
}

describe("tributary gate", () => {
  test("passes a run on which no rule fires, and fails one on which one does, with its words", async () => {
    const rules = rulesFile('[rules.nonfinite]\n[rules.high]\nkind = "threshold"\nwhen = "metrics.loss.last>5"\n');
    expect(await cli("gate", "sound", "--rules", rules)).toMatchObject({ code: 0, out: "sound passes 2 rules.\n" });
    const failed = await cli("gate", "broken", "--rules", rules);
    expect(failed.code).toBe(1);
    expect(failed.out).toContain("nonfinite: loss is not finite from step 5 on.");
    expect(failed.err).toContain("1 of 2 rules fired on broken.");
    const json = await cli("gate", "broken", "--rules", rules, "--json");
    expect([json.code, JSON.parse(json.out)]).toMatchObject([1, { fired: 1 }]);
  });

  test("says what is wrong with the file of rules, with the code for wrong use", async () => {
    expect(await cli("gate", "sound", "--rules", "/no/such.toml")).toMatchObject({ code: 2 });
    expect((await cli("gate", "sound", "--rules", rulesFile("[other]\n"))).err).toContain("has no rules");
    expect((await cli("gate", "sound", "--rules", rulesFile("[rules\n"))).err).toMatch(/ci\.toml:1:\d+/);
    const unknown = await cli("gate", "sound", "--rules", rulesFile('[rules.x]\nkind = "odd"\n'));
    expect(unknown.code).not.toBe(0);
    expect(unknown.err).toContain("needs a `kind`");
  });

  test("says that there is no such run", async () => {
    const { code, err } = await cli("gate", "nobody", "--rules", rulesFile("[rules.nonfinite]\n"));
    expect(code).toBe(1);
    expect(err).toContain("nobody");
  });
});

describe("tributary rules", () => {
  test("lists the rules with their state, and tries one on the past", async () => {
    const { code, out } = await cli("rules");
    expect(code).toBe(0);
    expect(out).toMatch(/nonfinite +dry run +built-in +tells/);
    const tried = await cli("rules", "test", "nonfinite");
    expect(tried.out).toContain("loss is not finite from step 5 on.");
    expect(tried.out).toContain("nonfinite would have fired on 1 of 2 runs.");
    expect(await cli("rules", "test", "nonfinite", "--runs", "0")).toMatchObject({ code: 2 });
  });

  test("rules that are changed at the same time are all changed", async () => {
    const kinds = ["at-once-1", "at-once-2", "at-once-3"];
    const put = (name: string) =>
      fetch(`${walk.app.url}/api/v1/rules/${name}`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ kind: "nonfinite" }),
      });
    for (const { status } of await Promise.all(kinds.map(put))) expect(status).toBe(200);
    const armed = await Promise.all(kinds.map((name) => cli("rules", "arm", name)));
    expect(armed.map(({ code }) => code)).toEqual([0, 0, 0]);
    const { rules } = JSON.parse((await cli("rules", "list", "--json")).out) as {
      rules: { name: string; armed: boolean }[];
    };
    expect(rules.filter(({ armed: isArmed }) => isArmed).map(({ name }) => name)).toEqual(kinds);
    for (const name of kinds) await fetch(`${walk.app.url}/api/v1/rules/${name}`, { method: "DELETE" });
  });

  test("arms a rule, makes it a dry run again, and silences it for a time", async () => {
    expect((await cli("rules", "arm", "nonfinite")).out).toBe("nonfinite is armed: tells.\n");
    expect((await cli("rules")).out).toMatch(/nonfinite +armed/);
    expect((await cli("rules", "arm", "nonfinite", "--off")).out).toBe("nonfinite is a dry run.\n");
    expect((await cli("rules", "silence", "nonfinite", "1h")).code).toBe(0);
    expect((await cli("rules")).out).toMatch(/nonfinite +silenced/);
    expect((await cli("rules", "arm", "no-such-rule")).code).toBe(1);
  });
});
