// What doctor found: one line each, and what to do about problems.

export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly hint: string;
}
