// The whole server in a temporary folder, on free ports.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { readConfig } from "#config/read-config.ts";
import type { SettingName } from "#config/settings.ts";
import { type App, openApp } from "#server/app/app.ts";
import { createLog } from "#server/log.ts";
import { makeMigratedFolder } from "./migrated-folder.ts";
import { suiteOf } from "./suite.ts";

export interface TestApp {
  readonly dataDir: string;
  app: App;
  get(path: string): Promise<{ status: number; body: unknown }>;
  post(
    path: string,
    body: string | Uint8Array,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: unknown }>;
  reopen(): Promise<void>;
  remove(): Promise<void>;
}

export type Flags = Partial<Record<SettingName, string>>;

/** One for all tests of a suite; `flags` may wait for something. */
export function suiteApp(flags: Flags | (() => Promise<Flags>) = {}): TestApp {
  const open = async () => createTestApp(typeof flags === "function" ? await flags() : flags);
  return suiteOf(open, (app) => app.remove());
}

/** One for one test. */
export async function testApp(flags: Flags = {}): Promise<TestApp> {
  const app = await createTestApp(flags);
  onTestFinished(() => app.remove());
  return app;
}

/** Who gives a folder gives it away: it is removed with the rest. */
export async function createTestApp(flags: Flags = {}): Promise<TestApp> {
  const dataDir = flags.dataDir ?? (await makeFolder(flags.storeUrl));
  const open = (): Promise<App> => {
    // Tests that make keys still ask without one, unless they say otherwise.
    // Rules write what they see, so only tests about them have any.
    const usual = { authLoopback: "open", otlpGrpcAddress: "off", watching: "off" };
    const fixed = { dataDir, httpAddress: "127.0.0.1:0", xtrackAddress: "127.0.0.1:0", ...usual, ...flags };
    return openApp(readConfig({ flags: fixed, env: {} }), createLog({ level: "error", format: "json" }));
  };
  const answer = async (response: Response) => {
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : (JSON.parse(text) as unknown) };
  };
  const test: TestApp = {
    dataDir,
    app: await open(),
    get: async (path) => answer(await fetch(test.app.url + path)),
    post: async (path, body, headers = { "content-type": "application/json" }) =>
      answer(await fetch(test.app.url + path, { method: "POST", body: body as string, headers })),
    async reopen() {
      await test.app.close();
      test.app = await open();
    },
    async remove() {
      await test.app.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  return test;
}

function makeFolder(storeUrl: string | undefined): Promise<string> {
  return storeUrl === undefined ? makeMigratedFolder() : mkdtemp(join(tmpdir(), "tributary-test-"));
}
