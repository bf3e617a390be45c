// Programs that some tests drive but npm cannot install: a real browser, a real NATS server, real proxies and
// a maker of certificates.
// A test asks `findTool` and skips itself when there is none; `npm test` says so in one loud line.

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

export interface Tool {
  /** Names under which the program may be installed, the one that is liked best first. */
  readonly names: readonly string[];
  /** The Debian packages that bring it; any of them will do. */
  readonly debian: readonly [string, ...string[]];
  readonly usedBy: string;
  /** A machine that cannot have it fails nothing: its tests do not show up there. */
  readonly isOptional?: true;
}

/** As people have it, with its window. */
export const wholeBrowsers = ["chromium", "chromium-browser", "google-chrome"] as const;

export const tools = {
  chromium: {
    // The same browser without its window, which costs the tests much less.
    names: ["chromium-headless-shell", ...wholeBrowsers],
    debian: ["chromium-headless-shell", "chromium"],
    usedBy: "browser tests",
  },
  nginx: { names: ["nginx"], debian: ["nginx"], usedBy: "tests of nginx's proxy file" },
  caddy: { names: ["caddy"], debian: ["caddy"], usedBy: "tests of Caddy's proxy file", isOptional: true },
  haproxy: { names: ["haproxy"], debian: ["haproxy"], usedBy: "tests of the balancer file" },
  nats: { names: ["nats-server"], debian: ["nats-server"], usedBy: "tests of several collectors" },
  openssl: { names: ["openssl"], debian: ["openssl"], usedBy: "tests of TLS" },
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof tools;

/** The path of the program, or undefined when it is not installed. Debian puts servers where users do not look. */
export function findTool(name: ToolName): string | undefined {
  return findProgram(tools[name].names);
}

/** The path of the first of these programs that is there. */
export function findProgram(names: readonly string[]): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  for (const program of names) {
    for (const folder of folders) {
      const path = join(folder, program);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // Not here; look in the next folder.
      }
    }
  }
  return undefined;
}
