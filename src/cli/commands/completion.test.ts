import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { createProgram } from "#cli/program.ts";
import { runInTest } from "#cli/run-cli.testing.ts";

it.each(["bash", "zsh", "fish"])("for %s names every command and is a script that shell can read", async (shell) => {
  const { out } = await runInTest(["completion", shell]);
  for (const command of (await createProgram({} as never)).commands) expect(out).toContain(command.name());
  const found = spawnSync("sh", ["-c", `command -v ${shell}`]).status === 0;
  if (found) expect(spawnSync(shell, ["-n"], { input: out }).status).toBe(0);
});

it.each([
  [
    ["sql", "--format", ""],
    ["table", "json", "csv", "parquet"],
  ],
  [["keys", "create", "--sc"], ["--scope"]],
  [
    ["keys", "create", "--scope", ""],
    ["ingest", "read", "control", "admin"],
  ],
  [["send", "r", "pau"], ["pause"]],
  [["comple"], ["completion"]],
])("in bash goes on after %j with %j", async (typed, expected) => {
  const { out } = await runInTest(["completion", "bash"]);
  const asked = `COMP_WORDS=(tributary ${typed.map((word) => `"${word}"`).join(" ")}); COMP_CWORD=${typed.length}`;
  const script = `${out}\n${asked}; _tributary; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  expect(stdout.trim().split("\n")).toEqual(expected);
});

it("in zsh and fish names the words that an option takes", async () => {
  expect((await runInTest(["completion", "zsh"])).out).toContain(":value:(table json csv parquet)'");
  expect((await runInTest(["completion", "fish"])).out).toContain("-x -a 'ingest read control admin'");
});
