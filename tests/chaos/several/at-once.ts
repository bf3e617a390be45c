// People delete, join, part, edit and read runs at two collectors at once while jobs go on sending to both, and the bus comes
// and goes. After each round, when everything is stored, both collectors must give the same answers, and these must be
// ones that the round allows.

import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import type { TestApp } from "../../support/app.ts";
import { toBatchText } from "../../support/cirron-batch.ts";
import { createRandom } from "../../support/random-inputs.ts";
import { eventually, type Pair } from "../../support/several.ts";

/** Runs that are joined only to each other. */
type Family = readonly string[];
/** The records that are shown of each run. A record has the name of the run that it was sent for. */
type Shown = ReadonlyMap<string, readonly string[]>;

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What was done in one round, as far as it was answered with success. */
class Round {
  readonly deletions: (Span & { readonly run: string })[] = [];
  readonly sent: (Span & { readonly run: string; readonly record: string; readonly isNew: boolean })[] = [];
  readonly joined = new Set<Family>();
  /** Answers that nobody should see. */
  readonly wrong: string[] = [];
}

const familyCount = 2;
const actsARound = 9;
/** On however busy a machine. */
const settleMs = 120_000;

export class AtOnce {
  private readonly pair: Pair;
  private readonly random: () => number;
  private readonly families: readonly Family[];
  private readonly sent: string[] = [];
  private serial = 0;
  private shown: Shown = new Map();

  constructor(pair: Pair, seed: number) {
    this.pair = pair;
    this.random = createRandom(seed);
    this.families = Array.from({ length: familyCount }, (_, at) =>
      ["x", "y", "z"].map((name) => `${name}${at}s${seed}`),
    );
  }

  /** Throws with what is wrong. */
  async run(rounds: number, onRound: (line: string) => void): Promise<void> {
    for (let at = 1; at <= rounds; at++) {
      const beganMs = performance.now();
      const round = new Round();
      const isCut = this.random() < 0.3;
      if (isCut) await this.pair.nats.kill();
      const acts = Array.from({ length: actsARound }, () => this.act(round));
      await Promise.all(acts.map(({ done }) => done));
      if (isCut) await this.pair.nats.start();
      await this.judge(
        round,
        `round ${at}: ${acts.map(({ what }) => what).join(", ")}${isCut ? ", without the bus" : ""}`,
      );
      onRound(`${at}: ${((performance.now() - beganMs) / 1000).toFixed(1)} s`);
    }
  }

  private act(round: Round): { what: string; done: Promise<void> } {
    const at = this.random() < 0.5 ? "a" : "b";
    const app = this.pair[at];
    const family = this.choose(this.families);
    const run = this.choose(family);
    const other = this.choose(family.filter((one) => one !== run));
    const wait = this.random() * 300;
    const [name, done] = this.chooseAct(round, app, { family, run, other });
    return { what: `${name} at ${at}`, done: delay(wait).then(done) };
  }

  private chooseAct(
    round: Round,
    app: TestApp,
    { family, run, other }: { family: Family; run: string; other: string },
  ): [string, () => Promise<void>] {
    const dice = this.random();
    const known = this.sent.length === 0 || this.random() < 0.7 ? null : this.choose(this.sent);
    if (dice < 0.5) {
      const record = known ?? `pt-${run}-${++this.serial}`;
      const search = this.random() < 0.5 ? "?wait=1" : "";
      return [`send ${record}`, () => this.send(round, app, record, search)];
    }
    if (dice < 0.68) return [`delete ${run}`, () => this.remove(round, app, run)];
    if (dice < 0.82) {
      round.joined.add(family);
      return [
        `join ${other} to ${run}`,
        () => this.ask(round, app, "POST", `/${run}/join`, { ids: [other] }).then(none),
      ];
    }
    if (dice < 0.9) {
      round.joined.add(family);
      return [`part ${run}`, () => this.ask(round, app, "POST", `/${run}/part`).then(none)];
    }
    if (dice < 0.95)
      return [`edit ${run}`, () => this.ask(round, app, "PATCH", `/${run}`, { notes: String(dice) }).then(none)];
    return [`export ${run}`, () => this.ask(round, app, "GET", `/${run}/export?format=jsonl`).then(none)];
  }

  private async send(round: Round, app: TestApp, record: string, search: string): Promise<void> {
    const [, run = "", serial = ""] = record.split("-");
    const seq = Number(serial);
    const fromMs = performance.now();
    const point = { run_id: run, key: record, value: seq, step: seq };
    const isCirron = seq % 3 === 0;
    const { status } = isCirron
      ? await app.post(
          `/v1/runs/${run}/traces${search}`,
          toBatchText(record, [{ id: `${seq}${run}`, parent: null, name: record, at: seq }], { pid: seq, thread: seq }),
        )
      : await app.post(
          `/v1/xtrack${search}`,
          encodeFrame("metric", { seq, ts: 1794710321102255 + seq, wid: "w" }, point),
          {
            "content-type": "application/octet-stream",
          },
        );
    if (status !== 202) round.wrong.push(`${record} was answered with ${status}`);
    round.sent.push({ run, record, isNew: !this.sent.includes(record), fromMs, toMs: performance.now() });
    this.sent.push(record);
  }

  private async remove(round: Round, app: TestApp, run: string): Promise<void> {
    const fromMs = performance.now();
    const status = await this.ask(round, app, "DELETE", `/${run}`);
    // What another one deletes at the same time may be gone.
    if (status === 200) round.deletions.push({ run, fromMs, toMs: performance.now() });
  }

  private async ask(round: Round, app: TestApp, method: string, path: string, body?: object): Promise<number> {
    const content = body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const answer = await fetch(`${app.app.url}/api/v1/runs${path}`, { method, ...content });
    const text = await answer.text();
    if (answer.status >= 500) round.wrong.push(`${method} ${path} was answered with ${answer.status}: ${text}`);
    return answer.status;
  }

  /** Waits until both show the same and what the round allows. */
  private async judge(round: Round, what: string): Promise<void> {
    const { a, b } = this.pair;
    let wrong: string[] = [];
    const isRight = async (): Promise<boolean> => {
      for (const { app } of [a, b]) await app.collector.drained();
      try {
        const [one, other] = await Promise.all([this.look(a), this.look(b)]);
        wrong = [...round.wrong, ...compare(one, other), ...this.findWrong(round, one)];
        if (wrong.length === 0) this.shown = one;
      } catch (error) {
        // A busy engine may refuse a question.
        wrong = [String(error)];
      }
      return wrong.length === 0;
    };
    await eventually(isRight, "", settleMs).catch(() => {
      throw new Error(`${wrong.join("; ")} after ${what}`);
    });
  }

  private findWrong(round: Round, shown: Shown): string[] {
    return this.families.flatMap((family) => {
      const deletions = round.deletions.filter(({ run }) => family.includes(run));
      const sent = round.sent.filter(({ run }) => family.includes(run));
      const lastMs = Math.max(0, ...deletions.map(({ toMs }) => toMs));
      const now = recordsOf(family, shown);
      const before = recordsOf(family, this.shown);
      const again = new Set(sent.map(({ record }) => record));
      // A collector that has not heard of a deletion takes what comes again for a copy.
      const must = [
        ...sent.filter(({ isNew, fromMs }) => isNew && fromMs >= lastMs).map(({ record }) => record),
        ...this.findKept(round, family),
      ];
      const may = new Set([...before, ...again]);
      const gone = this.findGone(round, family).filter((record) => !again.has(record));
      return [
        ...must.filter((record) => !now.has(record)).map((record) => `${record} is lost`),
        ...[...now].filter((record) => !may.has(record)).map((record) => `${record} came back`),
        ...gone.filter((record) => now.has(record)).map((record) => `${record} was not deleted`),
      ];
    });
  }

  /** What was there before and belongs to no run that was deleted. */
  private findKept({ deletions, joined }: Round, family: Family): string[] {
    const deleted = new Set(deletions.map(({ run }) => runOf(run, this.shown)));
    if (joined.has(family) && family.some((run) => deleted.has(run))) return [];
    return family.flatMap((run) => (deleted.has(run) ? [] : (this.shown.get(run) ?? [])));
  }

  /** What was there before, in a run that was deleted while nobody joined or parted anything of its family. */
  private findGone({ deletions, joined }: Round, family: Family): string[] {
    if (joined.has(family)) return [];
    const deleted = deletions.filter(({ run }) => family.includes(run));
    return deleted.flatMap(({ run }) => this.shown.get(runOf(run, this.shown)) ?? []);
  }

  private async look(app: TestApp): Promise<Shown> {
    const { status, body } = await app.get("/api/v1/runs?limit=100");
    if (status !== 200) throw new Error(`the runs were answered with ${status}: ${JSON.stringify(body)}`);
    const shown = (body as { runs: { id: string }[] }).runs.map(async ({ id }): Promise<[string, string[]]> => {
      const events = await app.get(`/api/v1/runs/${id}/events?limit=500`);
      if (events.status >= 500)
        throw new Error(`${id} was answered with ${events.status}: ${JSON.stringify(events.body)}`);
      return [id, [...new Set(JSON.stringify(events.body).match(/pt-\w+-\d+/g))].sort()];
    });
    return new Map((await Promise.all(shown)).sort());
  }

  private choose<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)] as T;
  }
}

function recordsOf(family: Family, shown: Shown): Set<string> {
  return new Set(family.flatMap((run) => shown.get(run) ?? []));
}

function ownRunOf(record: string): string {
  return record.split("-")[1] ?? "";
}

/** The run that this one is part of. */
function runOf(name: string, shown: Shown): string {
  const found = [...shown].find(([, records]) => records.some((record) => ownRunOf(record) === name));
  return found?.[0] ?? name;
}

function compare(one: Shown, other: Shown): string[] {
  const [said, saidElsewhere] = [one, other].map((shown) => JSON.stringify([...shown]));
  const apart = said === saidElsewhere ? [] : [`one says ${said} and the other ${saidElsewhere}`];
  // The records of a run belong together, and those under its own name are among them.
  const crooked = [...one].flatMap(([run, records]) =>
    records.filter((record) => runOf(ownRunOf(record), one) !== run || runOf(run, one) !== run),
  );
  return [...apart, ...crooked.map((record) => `${record} is in the wrong run`)];
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function none(): void {}
