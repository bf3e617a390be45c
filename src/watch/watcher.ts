// Rules over live runs. What arrives is remembered at once (`feed`); about once a second the runs that received something
// are looked at, and silent ones a little less often. What a rule sees becomes a firing, which is durable before anything is
// done about it, so that a restart or a replay neither forgets nor repeats one.

import type { ServerNs } from "#base/clock.ts";
import { Turn } from "#base/turns.ts";
import { factsOf, type Rule } from "#judge/rule.ts";
import { isOfTrackAlone, lookFor, type Moment, type Signal } from "#judge/signals.ts";
import type { Batch } from "#model/batch.ts";
import type { RunId, Workspace } from "#model/names.ts";
import type { StateChange } from "#model/state-tables.ts";
import { readFoundRuns } from "#query/runs/find-run.ts";
import type { Deliveries } from "./deliveries.ts";
import { feedParts } from "./feed.ts";
import { type Firing, type ForeignSight, mayFire, toFiring, toFiringChange } from "./firing.ts";
import { type MedianSteps, NamedSteps } from "./named-steps.ts";
import { type LookedAt, rememberRuns } from "./remember-runs.ts";
import { askAgainAfter } from "./rests.ts";
import type { WatchedRule } from "./rule-book.ts";
import type { RunWatch } from "./run-watch.ts";
import { readOthersOpen } from "./seen-firings.ts";
import { lookAtTable, type TableSight } from "./table-rules.ts";
import type { WatchPorts } from "./watch-ports.ts";
import { toWatchedKeys, type WatchedKeys, watchedKeys } from "./watched-keys.ts";
import { askedMax, WatchedRuns } from "./watched-runs.ts";

const pauseMsMin = 1000;
const pauseMsMax = 15_000;
/** Looking takes at most a fifth of the time, so that rules do not hold up what comes in when much does. */
const pausePerLook = 4;
const aliveNs = 30_000_000_000n;

export class Watcher {
  private readonly ports: WatchPorts;
  private readonly runs: WatchedRuns;
  private readonly watched = new Map<Workspace, WatchedKeys>();
  private readonly namedSteps: NamedSteps;
  private timer: NodeJS.Timeout | undefined;
  private turn: Promise<void> = Promise.resolve();
  private readonly acting = new Set<Promise<void>>();
  /** By run and rule: what other collectors saw and what still waits for its turn. */
  private readonly waitingSights = new Set<string>();
  private isClosed = false;

  constructor(ports: WatchPorts) {
    this.ports = ports;
    this.runs = new WatchedRuns(
      (groupKey) => ports.runOf(groupKey),
      (workspace) => this.watchedIn(workspace).room,
      () => ports.isTight(),
    );
    this.namedSteps = new NamedSteps(ports.sources);
  }

  start(pauseMs: number = pauseMsMin): void {
    if (this.isClosed) return;
    this.timer = setTimeout(async () => {
      const began = performance.now();
      await this.tick();
      const tookMs = performance.now() - began;
      this.start(Math.min(pauseMsMax, Math.max(pauseMsMin, tookMs * pausePerLook)));
    }, pauseMs);
    this.timer.unref();
  }

  /** Resolves when nothing that was seen is left undone. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.turn;
    await Promise.all(this.acting);
  }

  /** Rules have changed: other metrics may be looked at. */
  rulesChanged(): void {
    this.watched.clear();
    for (const run of this.runs.values()) run.rulesChanged();
  }

  /** Resolves the open firings of rules that are gone, because nothing checks any more whether they are over. */
  resolveGone(workspace: Workspace): Promise<void> {
    return this.inTurn("The firings of removed rules could not be resolved.", async () => {
      const { firings, isOurs } = this.ports;
      const rules = this.ports.book.of(workspace).map(({ rule }) => rule.name);
      for (const firing of await readOthersOpen(firings, workspace, rules)) {
        const { kind, runId } = firing;
        // A newer release may have kinds that are not known here.
        if (factsOf(kind)?.resolves === true && isOurs(workspace, runId))
          await this.resolve(firing, runId, this.runs.find(workspace, runId));
      }
    });
  }

  /** Takes an applied batch. This must be quick: every record passes here. */
  hear(workspace: Workspace, { position, parts }: Batch): void {
    const receivedNs = this.ports.nowNs();
    feedParts(parts, {
      receivedNs,
      isWatched: this.watchedIn(workspace).isWatched,
      trackOf: (groupKey, arrivedNs, isPlain) => {
        const run = this.runs.hear(workspace, groupKey, arrivedNs, position);
        if (!isPlain || run?.hasManyGroups) run?.told(position);
        return run?.sink;
      },
      hearNumbers: (groupKey, worker, first, last) =>
        this.runs.heardOf(groupKey)?.heardNumbers(groupKey, worker, first, last),
    });
  }

  /** The groups may belong to other runs than before. To be called before what came of them is heard. */
  regroup(groupKeys: Iterable<string>): void {
    for (const key of groupKeys) this.runs.regroup(key);
  }

  /** A run that went on before this start, or that another collector sees. */
  watch(workspace: Workspace, runId: RunId): RunWatch {
    return this.runs.get(workspace, runId);
  }

  /** Looks at what is due; one look at a time. */
  tick(): Promise<void> {
    return this.inTurn("Runs could not be checked against the rules; this is tried again soon.", () => this.look());
  }

  /** Looks at what the store says now. */
  lookAfresh(): Promise<void> {
    for (const run of this.runs.values()) run.sight = null;
    return this.tick();
  }

  /** Another collector saw something in a run of ours. It says so again for as long as that lasts. */
  hearSight(seen: ForeignSight): void {
    const name = JSON.stringify([seen.workspace, seen.runId, seen.rule]);
    if (this.waitingSights.has(name)) return;
    this.waitingSights.add(name);
    // In turn, so that it does not fire twice if it is seen here at the same time.
    void this.inTurn("What another collector saw in a run could not be checked.", () => {
      this.waitingSights.delete(name);
      return this.lookAtSight(seen);
    });
  }

  private inTurn(trouble: string, work: () => Promise<void>): Promise<void> {
    this.turn = this.turn
      .then(() => (this.isClosed ? undefined : work()))
      .catch((cause) => this.ports.onTrouble(trouble, cause));
    return this.turn;
  }

  private async lookAtSight({ workspace, runId, rule, signal }: ForeignSight): Promise<void> {
    const watched = this.ports.book.find(workspace, rule);
    if (watched === undefined) return;
    const run = this.watch(workspace, runId);
    run.noteSeenElsewhere(rule, this.ports.nowNs());
    const sight = (await this.see(workspace, [run], [watched])).get(runId);
    if (sight !== undefined) await this.consider(run, watched, sight, signal);
  }

  private watchedIn(workspace: Workspace): WatchedKeys {
    const known = this.watched.get(workspace);
    if (known !== undefined) return known;
    const watched = toWatchedKeys(this.ports.book.of(workspace).map(({ rule }) => rule));
    this.watched.set(workspace, watched);
    return watched;
  }

  private async look(): Promise<void> {
    const nowNs = this.ports.nowNs();
    const due = this.runs.dueAt(nowNs);
    for (const [workspace, runs] of Map.groupBy(due, (run) => run.workspace)) await this.lookAt(workspace, runs, nowNs);
  }

  private async lookAt(workspace: Workspace, runs: readonly RunWatch[], nowNs: ServerNs): Promise<void> {
    const { book, change } = this.ports;
    await book.noteSince(workspace, nowNs, (row) => change([{ table: "settings", row }], workspace, "rules"));
    const rules = book.of(workspace);
    for (const run of runs) {
      run.isDue = false;
      run.lookedNs = Number(nowNs);
    }
    try {
      await this.lookAtDue(workspace, runs, rules, nowNs);
    } catch (cause) {
      for (const run of runs) run.isDue = true;
      throw cause;
    }
  }

  private async lookAtDue(
    workspace: Workspace,
    runs: readonly RunWatch[],
    rules: readonly WatchedRule[],
    nowNs: ServerNs,
  ): Promise<void> {
    const stored = this.ports.stored();
    const sights = await this.seeAgain(workspace, runs, rules, nowNs, stored);
    const known = [...sights].flatMap(([run, sight]): LookedAt[] => (sight ? [{ run, groups: sight.groups }] : []));
    const plain = rules.map(({ rule }) => rule);
    await rememberRuns(this.ports.firings, known, watchedKeys(plain), this.ports.nowNs());
    const steps = await this.namedSteps.of(workspace, plain, nowNs);
    const turn = new Turn();
    for (const [run, sight] of sights) {
      if (turn.isOver) await turn.pass();
      if (sight === null) {
        // Not stored yet, or deleted, or another run's by now; what comes brings it back.
        if (run.heardPosition > stored) run.isDue = true;
        else if (!run.isDue) this.runs.forget(run);
        continue;
      }
      run.isOpen = sight.status === "running";
      await this.lookAtRun(run, rules, sight, steps);
      if (run.isOpen || run.isDue || run.isActing || run.heldNs.size > 0) continue;
      // A run that is over is remembered by the store alone, once that has it; what still comes of it brings it back.
      if (run.heardPosition > stored) run.isDue = true;
      else this.runs.forget(run);
    }
  }

  /** The sight of each run that a look is based on. The table is asked only from time to time, or if there is no sight. */
  private async seeAgain(
    workspace: Workspace,
    runs: readonly RunWatch[],
    rules: readonly WatchedRule[],
    nowNs: ServerNs,
    stored: number,
  ): Promise<Map<RunWatch, TableSight | null>> {
    const sights = new Map(runs.map((run) => [run, run.sight]));
    // Points may change which runs such a rule is about, and what other collectors hear is not heard here.
    const isCurious = this.ports.isShared || rules.some(({ rule }) => rule.filter !== "" || rule.kind === "threshold");
    const restOf = (run: RunWatch, { updatedNs }: TableSight): bigint => {
      const isBehind = rules.some(({ sinceNs }) => updatedNs < sinceNs);
      return askAgainAfter(nowNs - run.sink.heardNs, isCurious || isBehind || run.hasNews);
    };
    const stale = new Set(runs.filter((run) => run.sight === null || nowNs - run.seenNs >= restOf(run, run.sight)));
    if (stale.size === 0) return sights;
    // The engine takes as long for one run as for hundreds: those whose time has nearly come are asked for with them.
    for (const run of this.runs.values()) {
      if (stale.size >= askedMax) break;
      if (run.workspace !== workspace || run.sight === null) continue;
      if ((nowNs - run.seenNs) * 3n >= restOf(run, run.sight) * 2n) stale.add(run);
    }
    const asked = [...stale];
    const seen = await this.see(workspace, asked, rules);
    for (const run of asked) {
      const sight = seen.get(run.runId) ?? null;
      run.saw(sight, nowNs, stored);
      if (sights.has(run)) sights.set(run, sight);
    }
    return sights;
  }

  private async see(
    workspace: Workspace,
    runs: readonly RunWatch[],
    rules: readonly WatchedRule[],
  ): Promise<Map<string, TableSight>> {
    const { sources } = this.ports;
    const ids = runs.map(({ runId }) => runId);
    const found = await readFoundRuns(sources, workspace, ids);
    const groups = found.flatMap((run) => run.groups.map(({ groupKey }) => groupKey));
    const plain = rules.map(({ rule }) => rule);
    return groups.length === 0 ? new Map() : lookAtTable(sources, workspace, { ids, groups }, plain, this.ports.head());
  }

  private async lookAtRun(
    run: RunWatch,
    rules: readonly WatchedRule[],
    sight: TableSight,
    steps: MedianSteps,
  ): Promise<void> {
    const nowNs = this.ports.nowNs();
    const { isConnected } = this.ports.head();
    const track = run.remembered;
    run.holdOnly(sight.about);
    const isAlive = sight.status === "running" && (sight.groups.some(isConnected) || nowNs - track.heardNs < aliveNs);
    const moment: Moment = { nowNs, isAlive, steps };
    for (const watched of rules) {
      const { rule, sinceNs } = watched;
      if (!sight.about.has(rule.name) || run.isResting(rule.name)) continue;
      // The table may lag behind what is remembered here: then the rule looks once it has caught up.
      const hasLooked = sight.updatedNs >= sinceNs;
      const look = lookFor(rule) ?? (() => sight.signals.get(rule.name) ?? null);
      const signal = hasLooked ? look(track, rule, moment) : null;
      const isGone = signal === null && !run.isSeenElsewhere(rule.name, nowNs);
      if (isGone && hasLooked && isOfTrackAlone(rule) && !run.hasFirings(rule.name)) run.letRest(rule.name);
      if (signal !== null) await this.consider(run, watched, sight, signal);
      else if (isGone) await this.clear(run, rule, sight);
    }
    track.looked();
  }

  private async consider(run: RunWatch, watched: WatchedRule, sight: TableSight, signal: Signal): Promise<void> {
    const { rule } = watched;
    const nowNs = this.ports.nowNs();
    const since = run.hold(rule.name, watched.sinceNs, nowNs);
    if (nowNs - since < BigInt(rule.forMs) * 1_000_000n) return;
    const isSilenced = nowNs < watched.silencedUntilNs;
    const fires = !isSilenced && mayFire(run.firingsOf(rule.name), watched, signal);
    const isOurs = this.ports.isOurs(run.workspace, run.runId);
    if (fires && isOurs) await this.fire(run, watched, sight, signal);
    else if (fires) this.ports.tellOwner({ workspace: run.workspace, runId: run.runId, rule: rule.name, signal });
    // While the run goes on, a silence may end, and the owner is told again.
    if (!run.isOpen || !(isSilenced || (fires && !isOurs))) run.heldNs.delete(rule.name);
  }

  private async fire(run: RunWatch, watched: WatchedRule, sight: TableSight, signal: Signal): Promise<void> {
    const { rule, isArmed } = watched;
    const { workspace, runId } = run;
    if (this.ports.isShared) {
      await run.readFirings(this.ports.firings);
      if (!mayFire(run.firingsOf(rule.name), watched, signal)) return;
    }
    const firing = toFiring({ workspace, rule, runId, isArmed, signal, firedNs: this.ports.nowNs() });
    const rows = this.ports.deliveries.rowsFor(firing, "firing");
    await this.record(firing, rows);
    run.note(firing);
    this.ports.deliveries.queue(rows, firing, sight.name);
    if (isArmed && rule.actions.commands.length > 0) this.startActing(run, firing, rule, sight);
  }

  private startActing(run: RunWatch, firing: Firing, rule: Rule, sight: TableSight): void {
    const done = this.act(run, firing, rule, sight).finally(() => this.acting.delete(done));
    this.acting.add(done);
  }

  /** A firing whose commands a restart may have cut off is taken up again. */
  async resume(firing: Firing): Promise<void> {
    const { workspace, runId } = firing;
    const watched = this.ports.book.find(workspace, firing.rule);
    if (watched === undefined || !this.ports.isOurs(workspace, runId)) return;
    const run = this.watch(workspace, runId);
    const sight = (await this.see(workspace, [run], [watched])).get(runId);
    if (sight === undefined) return;
    run.note(firing);
    this.startActing(run, firing, watched.rule, sight);
  }

  private async act(run: RunWatch, firing: Firing, rule: Rule, sight: TableSight): Promise<void> {
    run.isActing = true;
    try {
      const outcome = await this.ports.act(firing, rule, sight);
      // It may have been resolved meanwhile.
      const acted = { ...(run.findFiring(firing) ?? firing), outcome };
      run.note(acted);
      await this.record(acted, []);
    } catch (cause) {
      this.ports.onTrouble(`The commands of the rule ${firing.rule} could not be sent.`, cause);
    } finally {
      run.isActing = false;
      run.isDue = true;
    }
  }

  /** The rule's condition does not hold any more, if it did. */
  private async clear(run: RunWatch, rule: Rule, sight: TableSight): Promise<void> {
    run.heldNs.delete(rule.name);
    const [last] = run.firingsOf(rule.name);
    if (last === undefined || last.resolvedNs !== null || !factsOf(rule.kind).resolves) return;
    if (!this.ports.isOurs(run.workspace, run.runId)) return;
    await this.resolve(last, sight.name, run);
  }

  private async resolve(firing: Firing, runName: string, run: RunWatch | undefined): Promise<void> {
    const resolved = { ...firing, resolvedNs: this.ports.nowNs() };
    const rows = this.ports.deliveries.rowsFor(resolved, "resolved");
    await this.record(resolved, rows);
    run?.note(resolved);
    this.ports.deliveries.queue(rows, resolved, runName);
  }

  private async record(firing: Firing, rows: ReturnType<Deliveries["rowsFor"]>): Promise<void> {
    const changes = rows.map((row): StateChange => ({ table: "deliveries", row }));
    const author = `rule:${firing.rule}`;
    await this.ports.change([toFiringChange(firing, this.ports.nowNs()), ...changes], firing.workspace, author);
    this.ports.announce(firing);
  }
}
