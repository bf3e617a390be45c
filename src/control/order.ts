// An order to workers, and whether it is valid.

import { createHash } from "node:crypto";
import { formatJson } from "#base/json/format.ts";
import type { JsonObject } from "#base/json/value.ts";
import type { RunId, Workspace } from "#model/names.ts";
import { commandTypes } from "./command.ts";

export interface CommandOrder {
  readonly workspace: Workspace;
  readonly runId: RunId;
  readonly type: string;
  readonly payload?: JsonObject;
  /** One worker; default: all that accept commands. */
  readonly worker?: string;
  readonly author: string;
  /** Why, in the author's words. */
  readonly reason?: string;
  readonly expiresMs?: number;
  /** The caller's idempotency key: a repeated order with the same key, for the same run, is the same order. */
  readonly idempotencyKey?: string;
}

export interface OrderRefusal {
  readonly refused:
    | "unknown_type"
    | "bad_payload"
    | "too_large"
    | "too_many_open"
    | "not_open"
    | "unknown_command"
    | "key_used";
  readonly message: string;
}

const payloadBytesMax = 64 * 1024;

export function payloadOf({ payload = {} }: CommandOrder): string {
  return formatJson(payload, "strict");
}

/** The beginning of a command id that has an idempotency key. It cannot name a command of another run or workspace. */
export function nameOf({ workspace, runId, idempotencyKey }: CommandOrder): string | undefined {
  if (idempotencyKey === undefined) return undefined;
  return createHash("sha256").update([workspace, runId, idempotencyKey].join("\0")).digest("hex").slice(0, 32);
}

export function checkOrder(order: CommandOrder): OrderRefusal | undefined {
  const { type, payload } = order;
  if (!(commandTypes as readonly string[]).includes(type))
    return { refused: "unknown_type", message: `"${type}" is none of ${commandTypes.join(", ")}.` };
  if (type === "adjust_lr" && typeof payload?.["lr"] !== "number")
    return { refused: "bad_payload", message: 'adjust_lr needs a payload such as {"lr": 0.0001}.' };
  if (type === "update_params" && Object.keys(payload ?? {}).length === 0)
    return { refused: "bad_payload", message: 'update_params needs the new values, such as {"dropout": 0.1}.' };
  if (payloadOf(order).length > payloadBytesMax)
    return { refused: "too_large", message: `The payload is larger than ${payloadBytesMax} bytes.` };
  return undefined;
}
