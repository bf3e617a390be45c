// Disturbs three collectors on one store, one bus and one bucket again and again while jobs of all protocols send to them
// and runs are deleted, and compares each collector's answers in the end with a ledger kept outside of them.
//
//   npm run chaos:several                              60 rounds
//   npm run chaos:several -- --rounds 10 --seed 7      fewer, and the same troubles again
//   npm run chaos:several -- --only "kill the store"   some of them
//   npm run chaos:several -- --minutes 9               as many as there is time for
//
// Needs nats-server. Exits with 1 when a record was lost, doubled or invented.

import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { describeMachine, whole } from "../bench/support/server.ts";
import { runSeveral, type SeveralReport } from "../tests/chaos/several/campaign.ts";
import { troubles } from "../tests/chaos/several/troubles.ts";
import { natsPath } from "../tests/support/several.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "60" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string", multiple: true },
    minutes: { type: "string" },
    save: { type: "boolean", default: false },
  },
});
const unknown = (values.only ?? []).filter((name) => !Object.hasOwn(troubles, name));
if (natsPath === undefined || unknown.length > 0) {
  const why = natsPath === undefined ? "There is no nats-server here." : `There is no trouble "${unknown[0]}".`;
  console.error(`${why} The troubles: ${Object.keys(troubles).join(", ")}.`);
  process.exit(2);
}

const beganMs = performance.now();
const report = await runSeveral({
  rounds: Number(values.rounds),
  seed: Number(values.seed),
  ...(values.only === undefined ? {} : { only: values.only }),
  ...(values.minutes === undefined ? {} : { minutesMax: Number(values.minutes) }),
  onRound: (line) => console.log(line),
});
const page = toPage(report, (performance.now() - beganMs) / 60_000);
console.log(page);
if (values.save) await writeFile(new URL("../bench/results/chaos-several.md", import.meta.url), page);
const wrong = Object.values(report.verdict).flat();
for (const line of wrong.slice(0, 20)) console.log(line);
process.exit(wrong.length === 0 ? 0 : 1);

function toPage({ verdict, rounds, ...counts }: SeveralReport, minutes: number): string {
  const { lost, doubled, invented } = verdict;
  const words = process.argv.slice(2).filter((word) => word !== "--save");
  const total = Object.values(rounds).reduce((sum, count) => sum + count, 0);
  return `# Several collectors in trouble

\`${["npm run chaos:several --", ...words].join(" ")}\`, seed ${values.seed}, on ${new Date().toISOString().slice(0, 10)}, ${describeMachine()}, ${minutes.toFixed(0)} minutes.
Three collectors, an engine behind its HTTP door, a NATS server and an S3 server, all on these cores; every record went to
any of the three.

| | |
| --- | ---: |
| rounds | ${whole(total)} |
${Object.entries(rounds)
  .map(([name, count]) => `| ${name} | ${count} |`)
  .join("\n")}
| records accepted: Cirron spans, XTrack points, node executions, OTLP spans | ${whole(counts.records)} |
| of these given to a second collector too | ${whole(counts.copies)} |
| runs, all written by all three | ${whole(counts.runs)} |
| files accepted, and read back at each | ${whole(counts.files)} |
| runs deleted while their jobs went on | ${whole(counts.deletions)} |
| lost · doubled · invented, in the answers of any of the three | ${lost.length} · ${doubled.length} · ${invented.length} |
`;
}
