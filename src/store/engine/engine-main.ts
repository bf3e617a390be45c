// Where the engine process begins. What it runs is compiled once, not at every start; and because it never ends but by a
// kill, it says itself when that is to be kept.

import nodeModule from "node:module";

nodeModule.enableCompileCache();
await import("./engine-process.ts");
nodeModule.flushCompileCache();
