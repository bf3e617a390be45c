// The browser application: built into dist/web, served by `tributary up` at `/`.

import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const source = fileURLToPath(new URL("../src/", import.meta.url));

/** Writes each text file once more in both encodings, so that the server sends them without work. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    writeBundle(options, bundle) {
      const folder = options.dir ?? "";
      for (const name of Object.keys(bundle)) {
        if (!/\.(js|css|svg)$/.test(name)) continue;
        const bytes = readFileSync(join(folder, name));
        writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
        // Quality 11 costs seconds on the layout engine alone, for two percent.
        const quality = { [constants.BROTLI_PARAM_QUALITY]: 9 };
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params: quality }));
      }
    },
  };
}

const keptMs = 24 * 60 * 60 * 1000;

/**
 * Pages that are open ask for files of the build that they came from, so those stay for a day. Their names hold a hash of
 * their content, so no build overwrites what another one needs.
 */
function forgetful(): Plugin {
  return {
    name: "forgetful",
    apply: "build",
    writeBundle(options, bundle) {
      const folder = join(options.dir ?? "", "assets");
      for (const name of readdirSync(folder)) {
        const isNew = `assets/${name.replace(/\.(br|gz)$/, "")}` in bundle;
        if (!isNew && Date.now() - statSync(join(folder, name)).mtimeMs > keptMs) rmSync(join(folder, name));
      }
    },
  };
}

export default defineConfig(({ command, mode }) => {
  // Vite keeps a NODE_ENV that is set, and the test runner sets one: the page would be built with libraries as their
  // developers run them, which are larger, slower and not what is released, unless that is asked for.
  if (command === "build") process.env["NODE_ENV"] = mode;
  return {
    plugins: [react(), compressed(), forgetful()],
    resolve: { alias: [{ find: /^#/, replacement: source }] },
    build: {
      outDir: "../dist/web",
      emptyOutDir: false,
      target: "es2023",
      // Nothing is inlined as data: or script text, so that the page needs no exception in its content policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // One small style sheet with the first load: a view must not wait for a second one from a server that is away.
      cssCodeSplit: false,
      chunkSizeWarningLimit: 2000,
    },
    server: { proxy: { "/api": "http://127.0.0.1:7077", "/v1": "http://127.0.0.1:7077" } },
  };
});
