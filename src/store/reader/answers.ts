// What workers answered to commands.

import type { Store } from "#store/store.ts";
import { readRows, text } from "./native-rows.ts";

/** The answers to some commands, out of the groups whose keys begin so. */
export function readAnswers(store: Store, prefix: string, commands: readonly string[]) {
  const word = (name: string): string => `JSONExtractString(payload, '${name}')`;
  return readRows(
    store,
    { cmd_id: text, worker: text, status: text, error: text },
    {
      sql: `SELECT ${word("cmd_id")} AS cmd_id, toString(worker) AS worker, ${word("status")} AS status,
          ${word("error")} AS error
        FROM ${store.database}.events
        WHERE startsWith(toString(group_key), {prefix:String}) AND type = 'ack' AND cmd_id IN {commands:Array(String)}`,
      params: { prefix, commands },
    },
  );
}
