// Bundles the server and the command line into dist/, beside the web application that vite has put there.
//
// chDB stays outside: it loads a native library from its own package. The other dependencies are bundled, in chunks
// that load when first needed, so that a short command does not pay for S3 or NATS.

import { chmod, rm } from "node:fs/promises";
import { type BuildOptions, build } from "esbuild";
import { buildEmit } from "./build-emit.ts";

const root = new URL("../", import.meta.url).pathname;

// Bundled CommonJS packages call `require` for Node's own modules, which an ES module does not have.
const banner = [
  'import { createRequire as tributaryRequire } from "node:module";',
  "const require = tributaryRequire(import.meta.url);",
].join("\n");

const options: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node22",
  splitting: true,
  outdir: "dist",
  chunkNames: "chunks/[name]-[hash]",
  entryPoints: { main: "src/main.ts", "engine-main": "src/store/engine/engine-main.ts" },
  external: ["chdb"],
  banner: { js: banner },
  sourcemap: "linked",
  legalComments: "linked",
  logLevel: "warning",
};

await rm(`${root}dist/chunks`, { recursive: true, force: true });
await build(options);
await chmod(`${root}dist/main.js`, 0o755);
await buildEmit(`${root}dist`);
