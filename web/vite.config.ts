// The browser application: built into dist/web, served by `tributary up` at `/`.

import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const source = fileURLToPath(new URL("../src/", import.meta.url));

export default defineConfig({
  plugins: [react()],
  resolve: { alias: [{ find: /^#/, replacement: source }] },
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    target: "es2023",
    // Nothing is inlined as data: or script text, so that the page needs no exception in its content policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
  },
  server: { proxy: { "/api": "http://127.0.0.1:7077", "/v1": "http://127.0.0.1:7077" } },
});
