// What `run` and `import` refuse before anything is done.

import { expect, it } from "vitest";
import { toPath } from "./client.ts";
import { runInTest } from "./run-cli.testing.ts";

const server = ["--server", "http://127.0.0.1:9"];

it.each(["", ".", ".."])("puts nothing into a run called %j, which no path can name", async (id) => {
  const refused = [2, expect.stringContaining("cannot be the id of a run")];
  const ran = await runInTest(["run", "--run-id", id, ...server, "--", "true"]);
  expect([ran.code, ran.err]).toEqual(refused);
  const imported = await runInTest(["import", "--run-id", id, ...server, import.meta.dirname]);
  expect([imported.code, imported.err]).toEqual(refused);
});

it("says at a wrong sampling time nothing of a run that is never made", async () => {
  const { code, err } = await runInTest(["run", "--sample", "often", ...server, "--", "true"]);
  expect([code, err]).toEqual([2, expect.stringMatching(/^error --sample must be /)]);
});

it("asks for a query where none is given", async () => {
  const { code, err } = await runInTest(["sql", ...server], { stdin: " \n" });
  expect([code, err]).toEqual([2, "error Give a query, as an argument or on standard input.\n"]);
});

it("takes a path that cannot be read for wrong use of check, and a file that is no trace for an answer", async () => {
  const { code, out } = await runInTest(["check", `${import.meta.dirname}/nowhere`]);
  expect([code, out]).toEqual([2, expect.stringContaining("cannot be read (ENOENT)")]);
  expect((await runInTest(["check", import.meta.filename])).code).toBe(1);
});

it("says that an id cannot be empty, in the words of the command line", () => {
  expect(() => toPath("run", { params: { id: "" } })).toThrow("An id or a name cannot be empty.");
});
