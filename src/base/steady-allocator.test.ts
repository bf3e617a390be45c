import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";

const program = `
  import { steadyAllocator } from ${JSON.stringify(new URL("./steady-allocator.ts", import.meta.url).href)};
  steadyAllocator();
  const { pid, argv, execArgv, env } = process;
  console.log(JSON.stringify({ pid, words: argv.slice(2), execArgv, size: env.MALLOC_MMAP_THRESHOLD_, kept: env.KEPT }));
`;

async function run(env: Record<string, string>): Promise<{ readonly pid: number | undefined; readonly said: unknown }> {
  const dir = await mkdtemp(join(tmpdir(), "tributary-allocator-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  const file = join(dir, "program.mjs");
  await writeFile(file, program);
  const child = spawn(process.execPath, ["--stack-size=1000", file, "up", "a b"], {
    env: { KEPT: "yes", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = await Promise.all([json(child.stdout), once(child, "exit")]);
  return { pid: child.pid, said };
}

it.runIf(process.platform === "linux")(
  "begins again as the same process, with a fixed size for the allocator",
  async () => {
    const { pid, said } = await run({});
    expect(said).toEqual({ pid, words: ["up", "a b"], execArgv: ["--stack-size=1000"], size: "131072", kept: "yes" });
  },
);

it("leaves a size alone that somebody chose", async () => {
  const { said } = await run({ MALLOC_MMAP_THRESHOLD_: "65536" });
  expect(said).toMatchObject({ size: "65536" });
});
