// Events that programs with our SDK could not send before they ended: taken in, then deleted.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "#cli/client.ts";
import type { Context } from "#cli/context.ts";
import { importPaths } from "#cli/import/import.ts";
import { chooseSpool } from "#emit/xtrack/settings.ts";

/** Rejects when the server cannot take them now; they stay then. It is waited for only if `waits`. */
export async function takeLeftEvents(client: Client, { env, stop }: Context, waits: boolean): Promise<void> {
  const folder = chooseSpool(undefined, env);
  if (folder === null) return;
  const names = await readdir(folder).catch(() => []);
  const paths = names.filter((name) => name.endsWith(".xtrack.bin")).map((name) => join(folder, name));
  if (paths.length === 0) return;
  await importPaths({ client, paths, speed: "instant", follow: false, waits, stop });
  if (stop.aborted) return;
  for (const path of paths) await rm(path, { force: true });
}
