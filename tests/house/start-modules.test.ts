// What a start must not load, because it costs every start and most never need it.

import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { root } from "./files.ts";

/** The modules of Node itself that a process has loaded after an import. */
function loadedBy(path: string): string[] {
  const script = `await import("./${path}"); console.log(process.moduleLoadList.join("\\n"));`;
  const text = execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: root, encoding: "utf8" });
  return text.split("\n");
}

it.each(["src/server/app/app.ts", "src/store/engine/http-door.ts", "src/emit/cirron.ts"])(
  "%s does not load Node's fetch, which an import of node:http would",
  (path) => {
    const loaded = loadedBy(path);
    expect(loaded).toContain("NativeModule http");
    expect(loaded.filter((name) => name.includes("undici"))).toEqual([]);
  },
);
