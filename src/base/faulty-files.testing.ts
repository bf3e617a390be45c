// A disk for tests whose n-th operation fails in a chosen way. Every operation of `Files` and `OpenFile` counts.

import type { Files, OpenFile } from "./files.ts";

/** `EIO` and `ENOSPC` do nothing and fail; `short` writes half and says so; `torn` writes half and fails;
 * `stays` fails this operation and every later one. A kind that does not fit the operation is an EIO. */
export type FaultKind = "EIO" | "ENOSPC" | "short" | "torn" | "stays";
export const faultKinds: readonly FaultKind[] = ["EIO", "ENOSPC", "short", "torn", "stays"];

export interface FaultyFiles extends Files {
  /** Operations so far. */
  count(): number;
}

export function createFaultyFiles(inner: Files, failAt: number, kind: FaultKind): FaultyFiles {
  let operations = 0;
  const isFaulty = () => ++operations === failAt || (kind === "stays" && operations > failAt);
  const fail = (): never => {
    const code = kind === "ENOSPC" ? "ENOSPC" : "EIO";
    throw Object.assign(new Error(code), { code });
  };
  const guard = async <T>(run: () => Promise<T>): Promise<T> => (isFaulty() ? fail() : await run());
  const wrap = (file: OpenFile): OpenFile => ({
    async write(buffers, position) {
      if (!isFaulty()) return await file.write(buffers, position);
      if (kind !== "short" && kind !== "torn") return fail();
      const whole = Buffer.concat(buffers);
      const written = await file.write([whole.subarray(0, Math.max(1, whole.length >> 1))], position);
      return kind === "short" ? written : fail();
    },
    read: (into, position) => guard(() => file.read(into, position)),
    fdatasync: () => guard(() => file.fdatasync()),
    size: () => guard(() => file.size()),
    truncate: (bytes) => guard(() => file.truncate(bytes)),
    async close() {
      // The descriptor is gone even when close fails.
      await file.close();
      if (isFaulty()) fail();
    },
  });
  return {
    open: (path, mode) => guard(async () => wrap(await inner.open(path, mode))),
    rename: (from, to) => guard(() => inner.rename(from, to)),
    unlink: (path) => guard(() => inner.unlink(path)),
    list: (folder) => guard(() => inner.list(folder)),
    makeFolder: (folder) => guard(() => inner.makeFolder(folder)),
    syncFolder: (folder) => guard(() => inner.syncFolder(folder)),
    count: () => operations,
  };
}
