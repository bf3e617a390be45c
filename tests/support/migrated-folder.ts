// Data folders whose store has its tables already. Making them takes the engine longer than starting does, and most
// tests are not about it. Those that are about it start from nothing.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStore } from "#store/client.ts";
import { startEmbedded } from "#store/embedded.ts";
import { migrate } from "#store/schema/migrate.ts";
import { copyMadeOnce } from "./made-once.ts";
import { openTcpDoor } from "./tcp-door.ts";

/** Who opens the store: one collector as its own, or several by URL, for whom the tables differ a little. */
type Kind = "embedded" | "server";

export function makeMigratedFolder(kind: Kind = "embedded"): Promise<string> {
  return copyMadeOnce(`store-${kind}`, async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "tributary-test-"));
    await (kind === "embedded" ? migrateOwn(dataDir) : migrateAsServer(dataDir));
    return dataDir;
  });
}

async function migrateOwn(dataDir: string): Promise<void> {
  const store = await createStore({ kind: "embedded", dataDir });
  await migrate(store);
  await store.close();
}

async function migrateAsServer(dataDir: string): Promise<void> {
  const engine = await startEmbedded({ kind: "embedded", dataDir });
  const door = await openTcpDoor(engine.socketPath);
  const account = { database: "tributary", user: "default", password: "", guestUser: "guest" };
  const store = await createStore({ kind: "server", url: door.url, ...account });
  await migrate(store);
  await store.close();
  door.close();
  await engine.close();
}
