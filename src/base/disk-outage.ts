// What durable code throws when the disk fails. Errors are classified here by their code, never elsewhere by their message.

/** `disk_full` passes when space is freed; `disk_failed` is a fault of the hardware or the system; `closed`: we closed the
 * file ourselves; `other_version`: a newer release wrote the folder. */
export type DiskOutageKind = "disk_full" | "disk_failed" | "closed" | "other_version";

export class DiskOutage extends Error {
  override readonly name = "DiskOutage";
  readonly kind: DiskOutageKind;

  constructor(kind: DiskOutageKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** Codes for a disk, quota or file size that is used up. */
export const fullCodes: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** The system's code of an error, such as ENOENT; '' for an error without one. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Only what the system reported with a code is an outage; anything else is a bug and stays what it is. */
export function toOutage(message: string, cause: unknown): unknown {
  if (cause instanceof DiskOutage || codeOf(cause) === "") return cause;
  return new DiskOutage(fullCodes.has(codeOf(cause)) ? "disk_full" : "disk_failed", message, cause);
}
