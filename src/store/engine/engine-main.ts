// The start of the engine process. Its code is compiled once, not at every start. The process only ever ends by a kill,
// so the compile cache is flushed explicitly.

import nodeModule from "node:module";

nodeModule.enableCompileCache();
await import("./engine-process.ts");
nodeModule.flushCompileCache();
