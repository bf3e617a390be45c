// How long other requests wait because of one large body: the processor time of the longest stretch that the server's main
// thread works without a break, from the body's first byte until its rows are stored, and then while its run is queried.
//
// Usage: node bench/large.ts [part of a body's name…] [--save] [--all] [--prof DIR]
// With --all it prints every query, not only the slowest one.

import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type LargeBody, largeBodies } from "./support/large-bodies.ts";
import { describeMachine, startServer } from "./support/server.ts";
import { isAsked, names, option, savePage } from "./support/words.ts";

const profileDir = option("--prof");
const chosen = largeBodies.filter(({ name }) => names.length === 0 || names.some((part) => name.includes(part)));
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

async function measure({ path, type, make }: LargeBody, round: number): Promise<Turn & { bytes: number }> {
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

/** The queries that a page or a person makes for a run with something large in it. */
const questions = ["", "/events", "/params", "/metrics", "/logs", "/spans", "/snapshots", "/pipeline", "/export"];

interface Asked extends Turn {
  readonly question: string;
}

const seen = new Set<string>();

/** The query for the newest run that blocked the main thread longest. */
async function askForRun(): Promise<Asked> {
  const { runs } = (await getJson("/api/v1/runs?limit=1000")) as { runs: { id: string }[] };
  const fresh = runs.find(({ id }) => !seen.has(id));
  for (const { id } of runs) seen.add(id);
  if (fresh === undefined) return { question: "none", longestMs: 0, span: [0, 0] };
  const run = `/api/v1/runs/${encodeURIComponent(fresh.id)}`;
  const { events } = (await getJson(`${run}/events?limit=1`)) as { events: { id: string }[] };
  const asked: Asked[] = [];
  for (const question of [...questions, `/events/${events[0]?.id}`]) {
    await longestTurn();
    await drain(`${run}${question}`);
    asked.push({ question: question.replace(/(?<=events.).+/, "<event>"), ...(await longestTurn()) });
  }
  if (isAsked("--all"))
    console.log(asked.map(({ question, longestMs }) => `${question || "the run"} ${Math.round(longestMs)}`).join(", "));
  return asked.reduce((worst, next) => (next.longestMs > worst.longestMs ? next : worst));
}

async function getJson(path: string): Promise<unknown> {
  return (await fetch(`${server.url}${path}`)).json();
}

async function drain(path: string): Promise<void> {
  const { body } = await fetch(`${server.url}${path}`);
  if (body !== null) for await (const _ of body);
}

const rows: string[] = [];
for (const body of chosen) {
  const turns: (Turn & { bytes: number })[] = [];
  const asked: Asked[] = [];
  for (let round = 0; round < rounds; round++) {
    turns.push(await measure(body, round));
    asked.push(await askForRun());
  }
  const { bytes } = turns[0] as { bytes: number };
  const listed = (all: readonly Turn[]): string => all.map(({ longestMs }) => Math.round(longestMs)).join(" · ");
  const { question } = asked.reduce((worst, next) => (next.longestMs > worst.longestMs ? next : worst));
  const out = `${listed(asked)} ${question === "" ? "the run" : question}`;
  rows.push(`| ${body.name} | ${(bytes / 1024 / 1024).toFixed(1)} | ${listed(turns)} | ${out} |`);
  console.log(rows.at(-1));
  if (profileDir !== undefined) console.log(JSON.stringify([turns, asked].map((all) => all.map(({ span }) => span))));
}
await server.close();

const lines = [
  "# Beside a large body",
  "",
  "`node bench/large.ts`: one body after the other into a real server. The processor time of the longest stretch that its main",
  `thread worked in one go, until the rows were stored, in ${rounds} rounds; the first has the compiling of the code in it. Aim: ${aimMs} ms.`,
  "Then the same while its run is asked for in every way, with the question that took longest.",
  "",
  "| body | MiB | taking it, ms | asking for it, ms |",
  "| --- | ---: | ---: | ---: |",
  ...rows,
  "",
  describeMachine(),
  "",
];
await savePage("large", lines.join("\n"));
