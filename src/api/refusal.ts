// A request that is refused: thrown by a handler, answered in the one error shape of the contract.

import type { ErrorAnswer } from "./contract/error.ts";

export type RefusalPlace = NonNullable<ErrorAnswer["at"]>;

export interface RefusalOptions {
  readonly hint?: string;
  readonly at?: RefusalPlace;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

export class Refusal extends Error {
  readonly kind = "refusal";
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly at: RefusalPlace | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, options: RefusalOptions = {}) {
    super(message, { cause: options.cause });
    this.name = "Refusal";
    this.status = status;
    this.code = code;
    this.hint = options.hint ?? "";
    this.at = options.at ?? null;
    this.headers = options.headers ?? {};
  }

  toAnswer(): ErrorAnswer {
    return { code: this.code, message: this.message, hint: this.hint, at: this.at };
  }
}
