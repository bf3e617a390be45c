// Programs that some tests drive but npm cannot install: a real browser, a real NATS server, real proxies and
// a maker of certificates.
// A test asks `findTool` and skips itself when there is none; `npm test` says so in one loud line.

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

export interface Tool {
  /** Names under which the program may be installed. */
  readonly names: readonly string[];
  /** The Debian package that brings it. */
  readonly debian: string;
  readonly usedBy: string;
}

export const tools = {
  chromium: { names: ["chromium", "chromium-browser", "google-chrome"], debian: "chromium", usedBy: "browser tests" },
  nginx: { names: ["nginx"], debian: "nginx", usedBy: "tests of the proxy file" },
  haproxy: { names: ["haproxy"], debian: "haproxy", usedBy: "tests of the balancer file" },
  nats: { names: ["nats-server"], debian: "nats-server", usedBy: "tests of several collectors" },
  openssl: { names: ["openssl"], debian: "openssl", usedBy: "tests of mail under TLS" },
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof tools;

/** The path of the program, or undefined when it is not installed. Debian puts servers where users do not look. */
export function findTool(name: ToolName): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  for (const folder of folders) {
    for (const program of tools[name].names) {
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
