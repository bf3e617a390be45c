// Compares the release of a ClickHouse server with the one that this program is tested with: that of the embedded
// engine.

import { readRow, text } from "./reader/native-rows.ts";
import type { Store } from "./store.ts";

const tried = [26, 7] as const;

/** A sentence about a server that is older than what was tested; null if it is not. */
export async function tellOldServer(store: Store): Promise<string | null> {
  if (store.kind === "embedded") return null;
  const row = await readRow(store, { version: text }, { sql: "SELECT version() AS version" });
  return toOldServerSentence(row?.version ?? "");
}

export function toOldServerSentence(version: string): string | null {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > tried[0] || (major === tried[0] && minor >= tried[1])) return null;
  return `The ClickHouse server is ${version}; this release is tested with ${tried.join(".")}, and nothing older has been tried.`;
}
