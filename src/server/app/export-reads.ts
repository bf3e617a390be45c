// The reads of the export routes, bound to the store and the blobs.

import type { ExportReads } from "#api/export-reads.ts";
import type { ResolvedRun } from "#api/reads.ts";
import { parseLines } from "#api/routes/lines.ts";
import type { TraceSlice } from "#query/export/chrome-trace.ts";
import type { BlobStore } from "#store/blobs/blob-store.ts";
import { exportTableQuery, slicesQuery } from "#store/reader/export-tables.ts";
import type { Store } from "#store/store.ts";
import { type ExportParts, exportLines, exportOtherLaunches } from "./export-lines.ts";

const bufferedChars = 64 * 1024;
const textEncoder = new TextEncoder();

export function createExportReads(store: Store, blobs: BlobStore): ExportReads {
  const { database } = store;
  return {
    async *lines(workspace, runs, isEverything, signal) {
      const parts = { store, blobs, workspace, launches: new Set<string>(), signal };
      let text = "";
      for await (const line of linesOf(parts, runs, isEverything)) {
        text += `${line}\n`;
        if (text.length < bufferedChars) continue;
        yield textEncoder.encode(text);
        text = "";
      }
      yield textEncoder.encode(text);
    },
    async rows(kind, scope, signal) {
      const { header, chunks } = await store.answer(exportTableQuery(database, kind, scope), { signal });
      return { names: header?.names ?? [], chunks };
    },
    parquet: (kind, scope, signal) =>
      store.stream(exportTableQuery(database, kind, scope), { format: "Parquet", signal }),
    slices: (groups, signal) =>
      parseLines<TraceSlice>(store.stream(slicesQuery(database, groups), { format: "objects", signal })),
  };
}

async function* linesOf(
  parts: ExportParts,
  runs: Iterable<ResolvedRun>,
  isEverything: boolean,
): AsyncGenerator<string> {
  for (const run of runs) yield* exportLines(parts, run);
  if (isEverything) yield* exportOtherLaunches(parts);
}
