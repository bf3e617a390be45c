// Strikes a real server on this machine again and again while clients of all protocols send to it, and compares what is
// stored in the end with a ledger kept outside of the server.
//
//   npm run chaos                                     20 rounds
//   npm run chaos -- --rounds 200 --records 1000000   the long form
//   npm run chaos -- --rounds 200 --minutes 30        as much of it as there is time for
//   npm run chaos -- --pause 100                      senders that rest between two sendings, so that the folder stays small
//   npm run chaos -- --seed 7 --only "kill both"      the same blows again, or some of them
//   npm run chaos -- --built                          against what `npm run build` made, as people install it
//   npm run chaos:power -- --rounds 50               losses of power only, on a disk of its own (as root): --power ext4 or xfs
//   npm run chaos -- --disk 2147483648                on a file system of so many bytes, which also runs full (as root)
//
// With strace installed, system calls of the server fail too. Exits with 1 when a record was lost, doubled, invented or altered.

import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { describeMachine, quantile, whole } from "../bench/support/server.ts";
import { blows } from "../tests/chaos/blows.ts";
import { type Report, runCampaign, slowStartMs } from "../tests/chaos/campaign.ts";
import { fileSystems, whyNoPower } from "../tests/chaos/power/powered-disk.ts";
import type { Start } from "../tests/chaos/victim.ts";

/** How many starts are listed however long they took. */
const slowestTold = 5;
const toS = (ms: number): string => (ms / 1000).toFixed(1);

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    records: { type: "string", default: "0" },
    minutes: { type: "string" },
    pause: { type: "string", default: "0" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string", multiple: true },
    disk: { type: "string" },
    power: { type: "string" },
    built: { type: "boolean", default: false },
    save: { type: "boolean", default: false },
  },
});
for (const name of values.only ?? []) {
  if (name in blows) continue;
  console.error(`There is no blow "${name}". There are: ${Object.keys(blows).join(", ")}.`);
  process.exit(2);
}
if (values.built && !existsSync(new URL("../dist/main.js", import.meta.url))) {
  console.error("--built strikes dist/main.js, which is not there: run `npm run build` first.");
  process.exit(2);
}

const power = fileSystems.find((name) => name === values.power);
if (values.power !== undefined) {
  const unknown = `--power takes one of these file systems: ${fileSystems.join(", ")}.`;
  const why = power === undefined ? unknown : whyNoPower(power);
  if (why !== null) {
    console.error(why);
    process.exit(2);
  }
}

const report = await runCampaign({
  rounds: Number(values.rounds),
  recordsMin: Number(values.records),
  seed: Number(values.seed),
  pauseMs: Number(values.pause),
  program: values.built ? "built" : "sources",
  ...(values.only === undefined ? {} : { only: values.only }),
  ...(values.minutes === undefined ? {} : { minutesMax: Number(values.minutes) }),
  ...(power === undefined ? {} : { power }),
  ...(values.disk === undefined ? {} : { diskBytes: Number(values.disk) }),
  onRound: (line) => console.log(line),
});
const page = toPage(report);
console.log(page);
if (values.save)
  await writeFile(new URL(`../bench/results/chaos${power === undefined ? "" : "-power"}.md`, import.meta.url), page);
const { lost, doubled, invented, altered } = report.verdict;
const wrong = [lost, doubled, invented, altered].flat();
const kindOf = (line: string): string => /^(?:in the backup: )?\w+/.exec(line)?.[0] ?? "";
for (const [kind, lines] of Map.groupBy(wrong, kindOf)) console.log(`${lines.length} ${kind}, such as ${lines[0]}`);
process.exit(wrong.length === 0 ? 0 : 1);

/** The server's own lines, as `message: name value, …`. */
function toSaid(log: Start["log"]): string {
  const said = log.map((line) => {
    const { level: _level, time: _time, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
    const values = Object.entries(rest).map(([name, value]) => `${name} ${String(value)}`);
    const cause = (err as { message?: string } | undefined)?.message;
    return [msg, ...values, ...(cause === undefined ? [] : [cause])].join(", ");
  });
  return said.join("; ").replaceAll("|", "/");
}

function toSlowest(starts: readonly Start[]): string {
  const slowest = starts.toSorted((a, b) => b.tookMs - a.tookMs);
  const isTold = ({ tookMs }: Start, at: number): boolean => at < slowestTold || tookMs > slowStartMs;
  return slowest
    .filter(isTold)
    .map(({ after, tookMs, costMs, log }) => `| ${after} | ${toS(tookMs)} | ${toS(costMs)} | ${toSaid(log)} |`)
    .join("\n");
}

function toPage({ verdict, rounds, starts, commands, backups, sectors }: Report): string {
  const startsMs = starts.map(({ tookMs }) => tookMs);
  const startCostsMs = starts.map(({ costMs }) => costMs);
  const words = process.argv.slice(2).filter((word) => word !== "--save");
  const title = power === undefined ? "Chaos" : "Losses of power";
  const total = Object.values(rounds).reduce((sum, count) => sum + count, 0);
  const seconds = (ms: readonly number[], q: number): string => toS(quantile(ms, q));
  const { spans, nodes, points, otlpSpans, otlpPoints, otlpLogs } = verdict.byKind;
  return `# ${title}

\`${[power === undefined ? "npm run chaos --" : "npm run chaos:power --", ...words].join(" ")}\`, seed ${values.seed}, on ${new Date().toISOString().slice(0, 10)}, ${describeMachine()}.

| | |
| --- | ---: |
| rounds | ${whole(total)} |
${Object.entries(rounds)
  .map(([name, count]) => `| ${name} | ${count} |`)
  .join("\n")}
| records acknowledged | ${whole(verdict.acknowledged)} |
| … spans by Cirron batches · node executions by trace-stream lines | ${whole(spans)} · ${whole(nodes)} |
| … points by XTrack, over TCP and WebSocket | ${whole(points)} |
| … spans · points · log records by OTLP, in JSON and protobuf | ${whole(otlpSpans)} · ${whole(otlpPoints)} · ${whole(otlpLogs)} |
| records stored | ${whole(verdict.stored)} |
| lost · doubled · invented · altered | ${verdict.lost.length} · ${verdict.doubled.length} · ${verdict.invented.length} · ${verdict.altered.length} |
| starts, seconds until ready: median · slowest | ${seconds(startsMs, 0.5)} · ${seconds(startsMs, 1)} |
| starts that took longer than five seconds | ${startsMs.filter((ms) => ms > slowStartMs).length} of ${startsMs.length} |
| starts, seconds of processor time: median · most | ${seconds(startCostsMs, 0.5)} · ${seconds(startCostsMs, 1)} |
| commands accepted | ${whole(commands.accepted)} |
| commands handed over again under the same id, after a kill | ${whole(commands.again)} |
| files acknowledged, and read back | ${whole(verdict.blobs)} |
| whole backups taken meanwhile · waited for in vain | ${backups.whole} · ${backups.late} |
${power === undefined ? "" : `| sectors not flushed when the power went · lost of them | ${whole(sectors.cached)} · ${whole(sectors.lost)} |\n`}
The slowest starts, with what the server said of them:

| round | seconds until ready | seconds of processor time | the server's log |
| --- | ---: | ---: | --- |
${toSlowest(starts)}
`;
}
