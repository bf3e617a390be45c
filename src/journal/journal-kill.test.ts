import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { makeFolder } from "../../tests/support/folder.ts";
import { createJournal } from "./journal.ts";

const writer = join(import.meta.dirname, "..", "..", "tests", "children", "journal-writer.ts");
const rounds = 20;

/** Lets a real process append until it is killed, and returns what it said was acknowledged. */
async function runUntilKilled(dir: string, life: number): Promise<Map<number, string>> {
  const child = spawn(process.execPath, [writer, dir, String(life)], { stdio: ["ignore", "pipe", "inherit"] });
  const output = text(child.stdout);
  child.stdout.once("data", () => setTimeout(() => child.kill("SIGKILL"), 5 + ((life * 13) % 40)));
  // A line that the kill cut short was still acknowledged, but cannot be told from a shorter one.
  const lines = (await output).split("\n").slice(0, -1);
  return new Map(lines.map((line) => [Number(line.split(" ")[0]), line.split(" ")[1] as string]));
}

it("loses and doubles nothing that a killed process had acknowledged, twenty times over", async () => {
  const dir = makeFolder();
  const acknowledged = new Map<number, string>();
  for (let life = 0; life < rounds; life++) {
    const lines = await runUntilKilled(dir, life);
    expect(lines.size).toBeGreaterThan(0);
    for (const [position, word] of lines) {
      expect(acknowledged.has(position)).toBe(false);
      acknowledged.set(position, word);
    }
  }
  const journal = await createJournal({ dir });
  const found = new Map<number, string>();
  for await (const { position, payload } of journal.replay(1)) {
    expect(found.has(position)).toBe(false);
    found.set(position, Buffer.from(payload).toString().trimEnd());
  }
  expect(new Set(found.values()).size).toBe(found.size);
  for (const [position, word] of acknowledged) expect(found.get(position)).toBe(word);
  expect(journal.state().corruptRecords).toBe(0);
  await journal.close();
});
