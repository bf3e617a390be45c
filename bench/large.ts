// How long others wait beside one large body: the processor time of the longest stretch that the server's main thread works
// in one go, from the body's first byte until its rows are stored.
//
// Usage: node bench/large.ts [part of a body's name…] [--save] [--prof DIR]

import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type LargeBody, largeBodies } from "./support/large-bodies.ts";
import { describeMachine, startServer } from "./support/server.ts";

const words = process.argv.slice(2);
const profileDir = words.includes("--prof") ? words[words.indexOf("--prof") + 1] : undefined;
const asked = words.filter((word) => !word.startsWith("--") && word !== profileDir);
const chosen = largeBodies.filter(({ name }) => asked.length === 0 || asked.some((part) => name.includes(part)));
const rounds = 3;
const aimMs = 100;

const socketPath = join(tmpdir(), `tributary-turns-${process.pid}`);
const preload = new URL("support/longest-turn.ts", import.meta.url).href;
const profile =
  profileDir === undefined ? [] : ["--cpu-prof", "--cpu-prof-interval", "500", `--cpu-prof-dir=${profileDir}`];
const server = await startServer({ nodeFlags: ["--import", preload, ...profile], env: { TURN_SOCKET: socketPath } });

interface Turn {
  readonly longestMs: number;
  readonly span: readonly [number, number];
}

async function longestTurn(): Promise<Turn> {
  return JSON.parse(await text(connect(socketPath))) as Turn;
}

async function measure(
  { path, type = "application/octet-stream", make }: LargeBody,
  round: number,
): Promise<Turn & { bytes: number }> {
  const body = make();
  await longestTurn();
  const answer = await fetch(`${server.url}${path}${path.endsWith("=") ? round * 1e9 : ""}`, {
    method: "POST",
    body,
    headers: { "content-type": type },
  });
  const said = await answer.text();
  if (!answer.ok || /"faults":\[\{|rejected/.test(said)) throw new Error(`${answer.status} ${said.slice(0, 300)}`);
  await server.drained();
  return { ...(await longestTurn()), bytes: body.length };
}

const rows: string[] = [];
for (const body of chosen) {
  const turns: (Turn & { bytes: number })[] = [];
  for (let round = 0; round < rounds; round++) turns.push(await measure(body, round));
  const { bytes } = turns[0] as { bytes: number };
  const all = turns.map(({ longestMs }) => Math.round(longestMs));
  rows.push(`| ${body.name} | ${(bytes / 1024 / 1024).toFixed(1)} | ${all.join(" · ")} |`);
  console.log(rows.at(-1));
  if (profileDir !== undefined) console.log(JSON.stringify(turns.map(({ span }) => span)));
}
await server.close();

const lines = [
  "# Beside a large body",
  "",
  "`node bench/large.ts`: one body after the other into a real server. The processor time of the longest stretch that its main",
  `thread worked in one go, until the rows were stored, in ${rounds} rounds; the first has the compiling of the code in it. Aim: ${aimMs} ms.`,
  "",
  "| body | MiB | longest stretch, ms |",
  "| --- | ---: | ---: |",
  ...rows,
  "",
  describeMachine(),
  "",
];
console.log(lines.join("\n"));
if (words.includes("--save")) await writeFile(new URL("results/large.md", import.meta.url), lines.join("\n"));
