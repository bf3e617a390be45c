// Runs that nothing arrived for in a workspace's time of keeping are deleted, in the same way as by a person, and the
// audit says so. Looked at when the server starts and every hour.

import type { Reads } from "#api/reads.ts";
import { nowNs as systemNowNs } from "#base/clock.ts";
import type { Receipt } from "#intake/sequencer.ts";
import type { Collector } from "#server/collector/collector.ts";
import type { DeletionOrder } from "#server/collector/deletion.ts";
import { type SettingRow, settingsQuery } from "#store/reader/admin.ts";

export interface RetentionOptions {
  readonly collector: Collector;
  readonly reads: Pick<Reads, "runFacts">;
  order(order: DeletionOrder): Promise<Receipt>;
  onTrouble(cause: unknown): void;
}

export interface Retention {
  close(): Promise<void>;
}

const everyMs = 3_600_000;
const dayNs = 86_400n * 1_000_000_000n;
/** A deletion holds intake back while it is carried out, so a great many runs go in several. */
const runsAtOnce = 200;

export function createRetention(options: RetentionOptions): Retention {
  let under = sweepRetention(options, systemNowNs()).catch(options.onTrouble);
  const timer = setInterval(() => {
    under = under.then(() => sweepRetention(options, systemNowNs())).catch(options.onTrouble);
  }, everyMs);
  timer.unref();
  return {
    async close() {
      clearInterval(timer);
      await under;
    },
  };
}

/** Returns how many runs were deleted. */
export async function sweepRetention(
  { collector, reads, order }: Omit<RetentionOptions, "onTrouble">,
  nowNs: bigint,
): Promise<number> {
  const { store } = collector;
  let deleted = 0;
  for (const { workspace, value } of await store.query<SettingRow>(settingsQuery(store.database, "retention_days"))) {
    const days = JSON.parse(value) as number | null;
    if (days === null) continue;
    const oldestNs = nowNs - BigInt(days) * dayNs;
    const old = (await reads.runFacts(workspace, null)).filter(({ groups }) => {
      const lastNs = groups.reduce((last, group) => (group.lastReceivedNs > last ? group.lastReceivedNs : last), 0n);
      // A run that has only stored files has no such time, and stays.
      return lastNs > 0n && lastNs < oldestNs;
    });
    for (let at = 0; at < old.length; at += runsAtOnce) {
      const runs = old
        .slice(at, at + runsAtOnce)
        .map(({ runId, groups }) => ({ runId, groupKeys: groups.map((group) => group.groupKey) }));
      const { position } = await order({ workspace, runs, author: "retention" });
      await collector.queryable(position);
      deleted += runs.length;
    }
  }
  return deleted;
}
