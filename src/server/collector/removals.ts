// Deleted runs whose files are being removed. A file that arrives for one of them meanwhile would go with the others, or
// would be taken for a copy of one that is about to go.

import { artifactPrefix, runPrefix } from "#store/blobs/object-key.ts";

interface RunName {
  readonly workspace: string;
  readonly runId: string;
}

/** A file that is being taken. */
export interface TakenFile {
  readonly objectKey: string;
  /** A removal that may have met the file began while it was taken. */
  isMet: boolean;
}

export class Removals {
  /** What the keys of files begin with that are being removed. */
  private readonly prefixes = new Map<symbol, readonly string[]>();
  private readonly taken = new Set<TakenFile>();

  /** The files of these runs are being removed until `gone` settles. */
  begin(runs: readonly RunName[], gone: Promise<unknown>): void {
    const removal = Symbol("removal");
    const prefixes = runs.flatMap(({ workspace, runId }) => [
      runPrefix(workspace, runId),
      artifactPrefix(workspace, runId),
    ]);
    this.prefixes.set(removal, prefixes);
    for (const file of this.taken) file.isMet ||= isUnder(file.objectKey, prefixes);
    const end = (): void => void this.prefixes.delete(removal);
    gone.then(end, end);
  }

  /** Null while the files of its run are being removed. `leave` must follow. */
  take(objectKey: string): TakenFile | null {
    for (const prefixes of this.prefixes.values()) if (isUnder(objectKey, prefixes)) return null;
    const file = { objectKey, isMet: false };
    this.taken.add(file);
    return file;
  }

  leave(file: TakenFile): void {
    this.taken.delete(file);
  }
}

function isUnder(objectKey: string, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => objectKey.startsWith(prefix));
}
