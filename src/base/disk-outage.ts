// What durable code throws when the disk fails it. Sorted by error code here, never by message text elsewhere.

/** `disk_full` may pass when space is freed; `disk_failed` is the hardware's or the system's fault; `closed` is
 * ours; `other_version` is a folder that a newer release wrote. */
export type DiskOutageKind = "disk_full" | "disk_failed" | "closed" | "other_version";

export class DiskOutage extends Error {
  override readonly name = "DiskOutage";
  readonly kind: DiskOutageKind;

  constructor(kind: DiskOutageKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** There is no room. */
export const fullCodes: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** What the system calls an error, such as ENOENT; '' for one that is not its own. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Only what the system reported with a code is an outage; anything else is a bug and stays what it is. */
export function toOutage(message: string, cause: unknown): unknown {
  if (cause instanceof DiskOutage || codeOf(cause) === "") return cause;
  return new DiskOutage(fullCodes.has(codeOf(cause)) ? "disk_full" : "disk_failed", message, cause);
}
