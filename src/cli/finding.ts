// What doctor found: one line each, and what to do where it is not well.

export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly hint: string;
}
