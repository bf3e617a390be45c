// Backups over HTTP. Only one runs at a time, because each reads every row and pauses the writer. It ends with its
// caller: callers who give up and retry would leave the store no time for incoming data.

import { FileBody, type Handler } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { type BackupSource, writeBackup } from "#archive/backup.ts";

export function createBackups(collector: BackupSource, dataDir: string): Handler<"backup"> {
  let isUnderWay = false;
  async function* write(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    // Of two requested at the same moment the first wins.
    if (isUnderWay) throw refuseSecond();
    isUnderWay = true;
    try {
      yield* writeBackup(collector, dataDir, signal);
    } finally {
      isUnderWay = false;
    }
  }
  return ({ signal }) => {
    if (collector.store.kind !== "embedded")
      throw new Refusal("store_elsewhere", "The data is on a ClickHouse server, which has its own BACKUP.", {
        hint: "Use BACKUP DATABASE there, and your bucket's own tools for blobs.",
      });
    if (isUnderWay) throw refuseSecond();
    const name = `tributary-${new Date().toISOString().slice(0, 19).replace(/[:T]/g, "-")}.tar`;
    return new FileBody("application/x-tar", write(signal), name);
  };
}

function refuseSecond(): Refusal {
  return new Refusal("backup_under_way", "Another backup is running.", { hint: "Try again when it is done." });
}
