// Builds the SDK that programs import as `tributary-ml/emit/…`: one ES module per protocol, the sender's thread, and types.
//
//   <out>/emit/{cirron,semantiva,xtrack}.js   with what they share in chunks beside them
//   <out>/emit/sender-worker.js               found by cirron.js beside itself
//   <out>/emit/last-words-worker.js           found by xtrack.js beside itself
//   <out>/emit/{…}.d.ts                       one line each, pointing into <out>/emit/types/
//   <out>/examples/steerable-job.js           the program that `tributary demo` starts

import { execFile } from "node:child_process";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { type BuildOptions, build } from "esbuild";

const root = new URL("../", import.meta.url).pathname;
const protocols = ["cirron", "semantiva", "xtrack"] as const;
// `tributary demo` of a release runs this one; in a checkout it runs the source.
const liveExample = { "steerable-job": "examples/steerable-job/job.ts" };

const shared: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node22",
  sourcemap: "linked",
  logLevel: "warning",
};

/** `out` is an absolute path; its `emit` folder is rebuilt. */
export async function buildEmit(out: string): Promise<void> {
  const emit = join(out, "emit");
  await rm(emit, { recursive: true, force: true });
  const entryPoints: Record<string, string> = {
    "sender-worker": "src/emit/cirron/sender-worker.ts",
    "last-words-worker": "src/emit/xtrack/last-words-worker.ts",
  };
  for (const protocol of protocols) entryPoints[protocol] = `src/emit/${protocol}.ts`;
  await Promise.all([
    build({ ...shared, entryPoints, outdir: emit, splitting: true, chunkNames: "shared-[hash]" }),
    buildTypes(join(emit, "types")),
  ]);
  for (const protocol of protocols) {
    await writeFile(join(emit, `${protocol}.d.ts`), `export * from "./types/emit/${protocol}.js";\n`);
  }
  await build({ ...shared, entryPoints: liveExample, outdir: join(out, "examples"), sourcemap: false });
}

async function buildTypes(out: string): Promise<void> {
  const tsc = join(root, "node_modules/.bin/tsc");
  await promisify(execFile)(tsc, ["-p", "tsconfig.emit.json", "--outDir", out], { cwd: root });
  const names = await readdir(out, { recursive: true });
  await Promise.all(names.filter((name) => name.endsWith(".d.ts")).map((name) => resolveImports(out, join(out, name))));
}

/** `#room/x.ts` and `./x.ts` mean nothing outside this repository; relative `.js` paths do. */
async function resolveImports(out: string, path: string): Promise<void> {
  const text = await readFile(path, "utf8");
  const resolved = text.replaceAll(/(from |import\()"([#.][^"]+)\.ts"/g, (_, before: string, target: string) => {
    if (target.startsWith(".")) return `${before}"${target}.js"`;
    const way = relative(dirname(path), join(out, target.slice(1)));
    return `${before}"${way.startsWith(".") ? way : `./${way}`}.js"`;
  });
  await writeFile(path, resolved);
}
