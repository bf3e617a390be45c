// The answer to a caller when a part we rely on fails: whether to try again, and when. None of this is a bug, so there is
// neither a 500 nor a stack in the log; `/readyz` and the log of the part itself report the failure once.

import { Refusal } from "#api/refusal.ts";
import { codeOf, DiskOutage } from "#base/disk-outage.ts";
import { BlobOutage } from "#store/blobs/blob-store.ts";
import { StoreOutage } from "#store/outage.ts";

/** A full disk does not empty itself within a second; clients ask again up to six times and double their waits. */
const diskRetryAfterS = 5;
const storeRetryAfterS = 1;

export function refuseOutage(error: unknown): Refusal | undefined {
  if (isDiskFull(error)) {
    return new Refusal("disk_full", "The disk of the data folder is full.", {
      hint: "Free some space, then send it again; nothing of it was taken.",
      headers: { "retry-after": String(diskRetryAfterS) },
    });
  }
  if (error instanceof DiskOutage) {
    return new Refusal("journal_failed", "The journal cannot be written, so nothing can be accepted.", {
      hint: "Send it again later; the server's log names the file and the reason.",
    });
  }
  if (isDiskFailed(error)) {
    return new Refusal("disk_failed", "The server cannot open, read or write files at the moment.", {
      hint: "Try again in a second. If it persists, the server's log names the file, and `ulimit -n` shows how many may be open.",
      headers: { "retry-after": String(storeRetryAfterS) },
    });
  }
  if (error instanceof BlobOutage && error.retryable) {
    return new Refusal("blobs_unavailable", "The blob store does not answer at the moment.", {
      hint: "Send it again in a second.",
      headers: { "retry-after": String(storeRetryAfterS) },
    });
  }
  return error instanceof StoreOutage ? refuseStore(error) : undefined;
}

function refuseStore(outage: StoreOutage): Refusal | undefined {
  const headers = { "retry-after": String(storeRetryAfterS) };
  switch (outage.kind) {
    case "engine_down":
    case "closed":
      return new Refusal("store_unavailable", "The store does not answer at the moment.", {
        hint: "Try again in a second; input is still accepted and waits in the journal.",
        headers,
      });
    case "cancelled":
      return new Refusal("store_unavailable", "The store ended this query before it was answered.", {
        hint: "Try again in a second.",
        headers,
      });
    case "overloaded":
      return new Refusal("store_overloaded", "The store has no memory or no free slot for this at the moment.", {
        hint: "Try again later, or ask for less: a shorter window, fewer runs or keys.",
        headers,
      });
    case "timeout":
      return new Refusal("question_too_slow", "The store took longer than the limit.", {
        hint: "Ask for less: a shorter window, fewer runs or keys.",
      });
    case "too_large":
      return new Refusal("answer_too_large", "The answer is larger than the limit.", {
        hint: "Ask for less: a shorter window, fewer runs or keys.",
      });
    // A statement of ours that the store refuses is a bug of ours.
    default:
      return undefined;
  }
}

function isDiskFull(error: unknown): boolean {
  if (error instanceof DiskOutage || error instanceof BlobOutage) return error.kind === "disk_full";
  return ["ENOSPC", "EDQUOT"].includes(codeOf(error));
}

function isDiskFailed(error: unknown): boolean {
  return ["EIO", "EMFILE", "ENFILE", "EROFS"].includes(codeOf(error));
}
