// What the watcher of rules needs of the server around it.

import type { ServerNs } from "#base/clock.ts";
import type { Rule } from "#judge/rule.ts";
import type { GroupName, RunId, Workspace } from "#model/names.ts";
import type { StateChange } from "#model/state-tables.ts";
import type { HeadContext } from "#query/runs/head.ts";
import type { Sources } from "#query/sources.ts";
import type { Deliveries } from "./deliveries.ts";
import type { Firing, ForeignSight } from "./firing.ts";
import type { RuleBook } from "./rule-book.ts";
import type { SeenFirings } from "./seen-firings.ts";
import type { TableSight } from "./table-rules.ts";

export interface WatchPorts {
  readonly sources: Sources;
  readonly book: RuleBook;
  readonly deliveries: Deliveries;
  readonly firings: SeenFirings;
  nowNs(): ServerNs;
  head(): HeadContext;
  runOf(groupKey: GroupName): RunId | undefined;
  /** The last journal record that is in the store. */
  stored(): number;
  /** Resolves when the change is durable and applied. */
  change(changes: readonly StateChange[], workspace: Workspace, author: string): Promise<void>;
  /** Sends the commands of a firing, or finds that they were sent; resolves with what came of it. */
  act(firing: Firing, rule: Rule, sight: TableSight): Promise<string>;
  announce(firing: Firing): void;
  /** Memory is short. */
  isTight(): boolean;
  /** Other collectors may have written to the same store. */
  readonly isShared: boolean;
  /** Whether this collector decides about a run. */
  isOurs(workspace: Workspace, runId: RunId): boolean;
  /** Tells the collector that does what was seen here. */
  tellOwner(sight: ForeignSight): void;
  onTrouble(message: string, cause: unknown): void;
}
