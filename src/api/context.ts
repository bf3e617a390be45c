// What every route is given: what it answers from, the clock, and how to answer with the position an answer includes.

import { setTimeout as sleep } from "node:timers/promises";
import type { Control } from "#control/control.ts";
import type { LiveHub } from "#live/hub.ts";
import type { RunId, Workspace } from "#model/names.ts";
import type { StateChange } from "#model/state-tables.ts";
import { type FoundRun, findRun, groupKeysOf } from "#query/runs/find-run.ts";
import type { HeadContext } from "#query/runs/head.ts";
import type { Sources } from "#query/sources.ts";
import type { RuleBook } from "#watch/rule-book.ts";
import type { HistoryFault } from "./contract/history.ts";
import type { LiveStats } from "./contract/live.ts";
import type { RouteName } from "./contract/paths.ts";
import type { ParamsOf } from "./contract/routes.ts";
import type { Handler, HandlerRequest } from "./handler.ts";
import { Refusal } from "./refusal.ts";

export interface ApiContext {
  readonly sources: Sources;
  /** Rows of one answer to people's SQL. */
  readonly sqlRowsMax: number;
  readonly sqlTimeoutMs: number;
  /** The journal position that answers include now, `<collector>-<position>`; of several collectors a list. */
  asOf(): string;
  head(): HeadContext;
  readonly control: Control;
  readonly hub: Pick<LiveHub, "subscribe">;
  readonly rules: RuleBook;
  /** Whether rules are watched; otherwise they can only be tried. */
  readonly isWatching: boolean;
  liveStats(): Omit<LiveStats, "as_of">;
  /** After which time without an arrival the configuration has runs of a workspace deleted; null for never. */
  configuredAgeMs(workspace: Workspace): number | null;
  /** Resolves when the change is durable and can be read. */
  change(changes: readonly StateChange[], workspace: Workspace, author: string): Promise<void>;
  /** Resolves when faults that were found elsewhere are durable and can be read. */
  keepFaults(faults: readonly HistoryFault[], workspace: Workspace): Promise<void>;
  /** Whether the run was deleted a moment ago: then there is nothing accepted before to wait for. */
  wasJustDeleted(workspace: Workspace, id: RunId): boolean;
  /** Resolves when the runs are hidden; their rows and blobs are removed soon after. */
  deleteRuns(workspace: Workspace, runs: readonly FoundRun[], author: string): Promise<void>;
}

/** How long a question for a run that is not there waits for what was accepted a moment ago. */
const justAcceptedMs = 2000;

async function soonCaughtUp({ caughtUp }: Sources): Promise<void> {
  await Promise.race([caughtUp().catch(() => undefined), sleep(justAcceptedMs, undefined, { ref: false })]);
}

export async function resolveRun(
  context: ApiContext,
  request: { readonly params: { readonly id: string }; readonly caller: { readonly workspace: Workspace } },
): Promise<FoundRun> {
  const find = () => findRun(context.sources, request.caller.workspace, request.params.id);
  const isGone = context.wasJustDeleted(request.caller.workspace, request.params.id);
  const found = (await find()) ?? (isGone ? null : await soonCaughtUp(context.sources).then(find));
  if (found !== null) return found;
  throw refuseRun(request.params.id);
}

export interface Question<N extends RouteName> extends HandlerRequest<N> {
  /** From before the first look, so that an answer never claims more than it includes. */
  readonly asOf: string;
}

export type Route<N extends RouteName> = (context: ApiContext, question: Question<N>) => ReturnType<Handler<N>>;

/** A question about one run, which is found before it is answered. */
export interface RunQuestion<N extends RouteName> extends Question<N> {
  readonly run: FoundRun;
  readonly groups: string[];
}

type RunRoute = { [N in RouteName]: ParamsOf<N> extends { readonly id: string } ? N : never }[RouteName];

export function ofRun<N extends RunRoute>(
  answer: (context: ApiContext, question: RunQuestion<N>) => ReturnType<Handler<N>>,
): Route<N> {
  return async (context, question) => {
    const run = await resolveRun(context, question as Question<N> & { params: { id: string } });
    return answer(context, { ...question, run, groups: groupKeysOf(run) });
  };
}

export function refuseRun(id: string): Refusal {
  return new Refusal("run_not_found", `There is no run with the id ${JSON.stringify(id)}.`, {
    hint: "List runs with GET /api/v1/runs; any id a run was ever known by works.",
    at: { part: "path", name: "id" },
  });
}

/** Rows of a page if the question names no number. */
export const limitDefault = 100;

export function toBigInt(text: string | undefined): bigint | null {
  return text === undefined ? null : BigInt(text);
}
