// A request that is refused: thrown by a handler, answered in the one error shape of the contract.

import type { ErrorAnswer } from "./contract/error.ts";
import { type RefusalCode, statusOf } from "./refusal-kinds.ts";

export type RefusalPlace = NonNullable<ErrorAnswer["at"]>;

export interface RefusalOptions {
  /** Another than the code's own: what the HTTP library refuses has its own status. */
  readonly status?: number;
  readonly hint?: string;
  readonly at?: RefusalPlace;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly code: RefusalCode;
  readonly hint: string;
  readonly at: RefusalPlace | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: RefusalCode, message: string, options: RefusalOptions = {}) {
    super(message, { cause: options.cause });
    this.status = options.status ?? statusOf(code);
    this.code = code;
    this.hint = options.hint ?? "";
    this.at = options.at ?? null;
    this.headers = options.headers ?? {};
  }

  toAnswer(): ErrorAnswer {
    return { code: this.code, message: this.message, hint: this.hint, at: this.at };
  }
}
