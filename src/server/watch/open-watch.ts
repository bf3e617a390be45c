// Connects the watcher of rules to applied batches, the store, control and the outside.

import { setTimeout as wait } from "node:timers/promises";
import type { ApiContext } from "#api/context.ts";
import { toSegment } from "#api/contract/segment.ts";
import { toAlert } from "#api/routes/alerts.ts";
import { nowNs } from "#base/clock.ts";
import { ConfigError } from "#config/read-config.ts";
import type { Config } from "#config/settings.ts";
import type { Control } from "#control/control.ts";
import type { StateChange } from "#model/state-tables.ts";
import { parseFilter } from "#query/runs/filter.ts";
import { findRun, ownRunsOf } from "#query/runs/find-run.ts";
import { listRuns } from "#query/runs/list.ts";
import { steeredRuns } from "#query/runs/steered-runs.ts";
import type { Collector } from "#server/collector/collector.ts";
import { readSealSecret } from "#server/http/owner-secret.ts";
import type { Log } from "#server/log.ts";
import type { Sights } from "#server/peers/sights.ts";
import { readSettings, readWorkspaces } from "#store/reader/admin.ts";
import { readArmedFirings, readFiringsById, readQueuedDeliveries } from "#store/reader/firings.ts";
import { sendCommands } from "#watch/commands.ts";
import { Deliveries } from "#watch/deliveries.ts";
import { fromFiringRow } from "#watch/firing.ts";
import { RuleMistake } from "#watch/parse-rule.ts";
import { parseFileRules, RuleBook, rulesSetting } from "#watch/rule-book.ts";
import { Watcher } from "#watch/watcher.ts";

export interface WatchParts {
  readonly collector: Collector;
  readonly control: Control;
  readonly config: Config;
  readonly context: ApiContext;
  /** Null when there is only this collector. */
  readonly peering: { readonly sights: Sights } | null;
  readonly log: Log;
  /** Where people reach the server. */
  url(): string;
}

export interface Watch {
  /** Looks at everything that is due, now. */
  look(): Promise<void>;
  close(): Promise<void>;
}

const reloadMs = 15_000;
/** Commands older than this are not sent any more after a restart. */
const resumeNs = 600_000_000_000n;
const openRunsMax = 1000;
/** The other collectors are known this long after a start: each announces itself once a second. */
const meetMs = 1500;
/** A collector that restarts is back by then. */
const returnMs = 10_000;

/**
 * All rules, watched or not. A mistake in the settings file keeps the server from starting. While the store is away
 * there are only the rules of the settings; those made on the page follow with the store.
 */
export async function readRules(collector: Collector, config: Config): Promise<RuleBook> {
  const read = () => readStoredRules(collector);
  const rules = new RuleBook(toFileRules(config), nowNs(), collector.store.kind === "server" ? read : null);
  await collector.onceJoined(async () => {
    await collector.sequencer.drained();
    rules.load(await read());
  });
  return rules;
}

/** One row for each workspace. */
async function readStoredRules({ store, unstored }: Collector) {
  // First, because they may be stored while the store is asked.
  const own = unstored.of("settings").flatMap(({ row }) => (row.name === rulesSetting ? [row] : []));
  const rows = [...(await readSettings(store, rulesSetting)), ...own];
  return [...new Map(rows.map((row) => [row.workspace, row])).values()];
}

function toFileRules({ rules }: Config) {
  try {
    return parseFileRules(rules);
  } catch (error) {
    throw error instanceof RuleMistake ? new ConfigError([error.message]) : error;
  }
}

/** Null if rules are not watched. */
export async function openWatch(parts: WatchParts): Promise<Watch | null> {
  const { collector, config, context, log } = parts;
  const sights = parts.peering?.sights ?? null;
  if (config.watching === "off") return null;
  const closing = new AbortController();
  const onTrouble = (message: string, cause: unknown) => log.warn({ err: cause }, message);
  const deliveries = createDeliveries(parts, onTrouble);
  const watcher = createWatcher(parts, deliveries, closing.signal, onTrouble);
  context.rules.listen((rows) => {
    watcher.rulesChanged();
    for (const { workspace } of rows) void watcher.resolveGone(workspace);
  });
  collector.onApplied(({ input, applied, batch }) => {
    watcher.regroup(groupsIn(applied.state));
    // Imported records are old.
    if (!input.imported) watcher.hear(input.workspace, batch);
    const changed = applied.state.flatMap((change) =>
      change.table === "settings" && change.row.name === rulesSetting ? [change.row] : [],
    );
    context.rules.load(changed);
  });
  sights?.listen((sight) => watcher.hearSight(sight));
  const refresh = (): void => void context.rules.refresh().catch(() => undefined);
  const timer = sights === null ? undefined : setInterval(refresh, reloadMs).unref();
  await collector.onceJoined(() => queueLeftDeliveries(parts, deliveries));
  const onUnread = (cause: unknown): void => {
    if (!closing.signal.aborted) onTrouble("Runs that rules should look at could not be read.", cause);
  };
  const begun = collector.onceJoined(() => takeUp(parts, watcher, closing.signal)).catch(onUnread);
  sights?.onFewer(() => {
    const takeUpLeft = async (): Promise<void> => {
      await wait(returnMs, undefined, { signal: closing.signal, ref: false });
      await takeUpRuns(parts, watcher, closing.signal);
    };
    takeUpLeft().catch(onUnread);
  });
  watcher.start();
  return {
    look: async () => {
      await begun;
      await context.sources.caughtUp();
      await watcher.lookAfresh();
    },
    async close() {
      closing.abort();
      clearInterval(timer);
      await begun;
      await watcher.close();
      await deliveries.close();
    },
  };
}

function groupsIn(changes: readonly StateChange[]): string[] {
  return changes.flatMap((change) => (change.table === "groups" ? [change.row.group_key] : []));
}

function createDeliveries(
  { collector, config, url }: WatchParts,
  onTrouble: (message: string, cause: unknown) => void,
): Deliveries {
  return new Deliveries({
    collector: collector.id,
    secret: readSealSecret(config.dataDir, "watch", config.watchSecret),
    reach: { isPrivateAllowed: config.watchPrivate, hosts: config.watchHosts.map((host) => host.toLowerCase()) },
    mail: config.mailServer === "" ? null : { url: config.mailServer, from: config.mailFrom },
    nowNs,
    linkOf: (runId) => `${config.watchPage || url()}/runs/${toSegment(runId)}`,
    change: async (changes, workspace) => {
      await collector.change(changes, workspace, "rules");
    },
    onTrouble,
  });
}

function createWatcher(
  { collector, control, context, peering }: WatchParts,
  deliveries: Deliveries,
  closing: AbortSignal,
  onTrouble: (message: string, cause: unknown) => void,
): Watcher {
  const sights = peering?.sights ?? null;
  return new Watcher({
    sources: context.sources,
    book: context.rules,
    deliveries,
    isTight: () => collector.strain() !== "none",
    firings: { store: context.sources.store, unstored: () => collector.unstored.of("firings").map(({ row }) => row) },
    nowNs,
    head: () => context.head(),
    runOf: (groupKey) => collector.applier.state.joinedRunOf(groupKey),
    stored: () => collector.writer.stored,
    change: async (changes, workspace, author) => {
      await collector.change(changes, workspace, author);
    },
    act: async (firing, rule, { status }) => {
      const { workspace, runId } = firing;
      const found = (await findRun(context.sources, workspace, runId)) ?? { runId, groups: [] };
      const steered = steeredRuns(found, (run) => control.accepting(workspace, run));
      const ports = {
        control,
        isClosing: () => closing.aborted,
        // A changed rule is a dry run again, and a removed one does not exist.
        isArmed: () => context.rules.find(workspace, firing.rule)?.isArmed === true,
        wait: (ms: number) => wait(ms, undefined, { signal: closing }).catch(() => undefined),
      };
      return sendCommands(ports, firing, rule, { status, own: ownRunsOf(found), steered });
    },
    announce: (firing) => collector.hub.announce(firing.workspace, "alert", toAlert(firing, [])),
    isShared: sights !== null,
    isOurs: (workspace, runId) => sights?.isOurs(workspace, runId) ?? true,
    tellOwner: (sight) => sights?.tell(sight),
    onTrouble,
  });
}

/** Queues messages that had not been accepted when the server ended. */
async function queueLeftDeliveries({ collector }: WatchParts, deliveries: Deliveries): Promise<void> {
  await collector.drained();
  const rows = await readQueuedDeliveries(collector.store, collector.id);
  if (rows.length === 0) return;
  const firings = await readFiringsById(collector.store, [...new Set(rows.map((row) => row.firing_id))]);
  for (const firing of firings.map(fromFiringRow))
    deliveries.queue(
      rows.filter((row) => row.firing_id === firing.id),
      firing,
      firing.runId,
    );
}

/** Takes up runs that were open before the start, and firings whose commands were cut off. */
async function takeUp(parts: WatchParts, watcher: Watcher, closing: AbortSignal): Promise<void> {
  for (const row of await readArmedFirings(parts.collector.store, nowNs() - resumeNs)) {
    const firing = fromFiringRow(row);
    if (firing.outcome === "" && firing.actions.commands.length > 0) await watcher.resume(firing);
  }
  // While no other collector is known, all open runs would be ours.
  if (parts.peering !== null) await wait(meetMs, undefined, { signal: closing, ref: false });
  // A rule of the settings file may be gone since the last start.
  for (const workspace of await readWorkspaces(parts.collector.store)) await watcher.resolveGone(workspace);
  await takeUpRuns(parts, watcher, closing);
}

/** Watches the open runs that this collector is responsible for. */
async function takeUpRuns(
  { collector, context, peering }: WatchParts,
  watcher: Watcher,
  closing: AbortSignal,
): Promise<void> {
  const parsed = parseFilter("status=running OR status=lost");
  for (const workspace of await readWorkspaces(collector.store)) {
    if (closing.aborted || !parsed.ok) return;
    const question = { workspace, filter: parsed.filter, columns: [], group: null, after: null, limit: openRunsMax };
    const sort = [{ field: { kind: "run", name: "updated", text: "updated" }, descending: true }] as const;
    const { rows } = await listRuns(context.sources, { ...question, sort, archived: "show" }, context.head());
    for (const { row } of rows) {
      const isOurs = peering?.sights.isOurs(workspace, row.runId) ?? true;
      if (isOurs && row.silence?.lastArrivalNs !== null) watcher.watch(workspace, row.runId);
    }
  }
}
