// A start does not wait until the store has what the journal held, and knows it all the same.

import { expect, test } from "vitest";
import { Victim } from "../chaos/victim.ts";
import { makeFolder } from "../support/folder.ts";

interface MadeKey {
  readonly id: string;
  readonly key: string;
}

test("keys that were made or revoked while nothing could be stored count from the first moment of the next start", async () => {
  const dataDir = makeFolder();
  const victim = await Victim.create(dataDir);
  const ask = (path: string, key: string, init: RequestInit = {}) =>
    fetch(victim.url + path, {
      ...init,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    });
  const make = async (name: string, key: string): Promise<MadeKey> => {
    const body = JSON.stringify({ name, scopes: ["admin"] });
    return (await (await ask("/api/v1/keys", key, { method: "POST", body })).json()) as MadeKey;
  };
  const statusOf = async (key: string) => (await ask("/api/v1/keys", key)).status;
  try {
    await victim.start();
    const first = await make("first", "none-yet");
    const revoked = await make("revoked", first.key);
    await ask("/readyz?drained=1", first.key);
    victim.signal("engine", "SIGSTOP");
    const made = await make("made", first.key);
    expect((await ask(`/api/v1/keys/${revoked.id}`, first.key, { method: "DELETE" })).status).toBe(200);
    victim.signal("engine", "SIGKILL");
    await victim.end("SIGKILL");
    await victim.start();
    expect([await statusOf(made.key), await statusOf(first.key), await statusOf(revoked.key)]).toEqual([200, 200, 401]);
    expect((await fetch(`${victim.url}/api/v1/keys`)).status).toBe(401);
  } finally {
    await victim.remove();
  }
});
