// Programs print more than text: frames of XTrack and sentinel lines of Cirron. `tributary run` takes them out of what a
// program prints and sends them by these routes.

import type { IngestRoute } from "./facts.ts";

export const printedRoutes = { frames: "xtrack", batch: "cirronRun" } as const satisfies Record<string, IngestRoute>;
