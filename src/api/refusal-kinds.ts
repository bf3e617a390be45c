// Every code of an error answer, besides those of the faults: its status and its meaning. docs/errors.md is generated
// from this table, and the type checker refuses codes that are not in it.

import { type FaultCode, faultKinds } from "#model/fault.ts";

export interface RefusalKind {
  readonly status: number;
  readonly means: string;
}

export const refusalKinds = {
  answer_too_large: { status: 422, means: "The store found more rows or bytes than an answer may have." },
  artifact_not_stored: { status: 404, means: "The run names this file, but nobody uploaded it." },
  backup_under_way: { status: 409, means: "Another backup is running; only one can run at a time." },
  blob_key_invalid: { status: 400, means: "The key of the blob or artifact does not have the documented form." },
  blob_not_found: { status: 404, means: "There is no such blob, or none for this span and kind." },
  blob_unreadable: { status: 422, means: "The blob is not a safetensors file, or is damaged." },
  blobs_unavailable: { status: 503, means: "The blob bucket does not answer at the moment." },
  body_syntax: { status: 400, means: "The body is not JSON." },
  busy: {
    status: 429,
    means:
      "There is no room: the journal's budget is spent, or too many bodies are waiting; try again after Retry-After.",
  },
  command_bad_payload: { status: 400, means: "The command's payload lacks a field, or a field has the wrong type." },
  command_key_used: {
    status: 409,
    means: "This idempotency key was used for another command of the run, or with another payload.",
  },
  command_not_open: { status: 409, means: "The command has been delivered or settled and can no longer be cancelled." },
  command_run_ended: { status: 409, means: "The run has ended, and none of its workers is connected." },
  command_too_large: { status: 413, means: "The command's payload is larger than the limit." },
  command_too_many_open: { status: 429, means: "Too many commands are waiting for the run's workers." },
  command_unknown_command: { status: 404, means: "The run has no command with this id." },
  command_unknown_type: { status: 400, means: "There is no such command; use `custom` for your own." },
  cursor_invalid: { status: 400, means: "The cursor does not come from this list." },
  delete_changed: {
    status: 409,
    means: "The runs that match have changed since they were counted; nothing was deleted.",
  },
  delete_unclear: { status: 400, means: "Name the runs to delete by ids or by a filter: exactly one of the two." },
  disk_full: { status: 429, means: "The disk of the data folder is full; try again after Retry-After." },
  disk_failed: {
    status: 503,
    means: "The server cannot open, read or write files at the moment; try again.",
  },
  encoding_unknown: { status: 415, means: "The route does not take this Content-Encoding." },
  event_not_found: { status: 404, means: "The run has no record at this place." },
  export_format: { status: 400, means: "There is no such export format." },
  export_kind: { status: 400, means: "The format needs the kind of rows to export, or has no such kind." },
  fault_not_found: { status: 404, means: "There is no such fault." },
  field_unknown: { status: 400, means: "Runs have no such field to sort, group or show." },
  filter_syntax: { status: 400, means: "The filter is not valid; `at` gives the character." },
  host_not_allowed: { status: 403, means: "The Host header names another machine: a guard against DNS rebinding." },
  internal: { status: 500, means: "A bug in the server; its log has the details." },
  journal_failed: { status: 503, means: "The journal's disk fails, so nothing can be accepted." },
  key_missing: { status: 401, means: "A key is needed, and none was sent." },
  key_not_found: { status: 404, means: "There is no such key." },
  key_wrong: { status: 401, means: "The key is unknown or revoked." },
  launch_not_found: { status: 404, means: "There is no such launch or attempt." },
  login_throttled: { status: 429, means: "Too many wrong keys from this address; try again after Retry-After." },
  media_unknown: { status: 415, means: "The route takes JSON, but the Content-Type says otherwise." },
  origin_not_allowed: { status: 403, means: "A page of another site sent this: a guard against cross-site requests." },
  question_too_slow: { status: 504, means: "The store took longer than the limit." },
  request_invalid: { status: 400, means: "A parameter or field violates the contract; `at` names it." },
  request_slow: { status: 503, means: "The request did not arrive in time; nothing of it was taken." },
  route_not_found: { status: 404, means: "There is no such route." },
  rule_invalid: { status: 400, means: "The rule is not valid; the message says what is wrong." },
  rule_not_found: { status: 404, means: "There is no such rule." },
  rule_of_file: { status: 409, means: "The rule is in the settings file; change it there." },
  run_not_found: { status: 404, means: "No run has, or ever had, this id." },
  run_not_joined: { status: 409, means: "Nothing is joined to the run, so there is nothing to part." },
  runs_joined_already: { status: 409, means: "The two are already one run." },
  scope_missing: { status: 403, means: "The key lacks the scope that the route needs." },
  shutting_down: {
    status: 503,
    means: "The server is stopping and could not finish the answer; try again when it is back.",
  },
  span_not_found: { status: 404, means: "The run has no such span." },
  sql_refused: { status: 400, means: "The statement is not a single read-only SELECT, is wrong, or exceeds a limit." },
  store_elsewhere: { status: 409, means: "The data is on a ClickHouse server; use its own tools for this." },
  store_overloaded: { status: 503, means: "The store has no memory or no free slot for this at the moment." },
  store_unavailable: { status: 503, means: "The store does not answer at the moment; it is being restarted." },
  tensor_not_found: { status: 404, means: "The run has no snapshot of this tensor." },
  timeline_too_large: { status: 422, means: "The run has more spans than a timeline can show." },
  view_not_found: { status: 404, means: "There is no saved view of this name." },
  workspace_foreign: { status: 403, means: "The key belongs to another workspace." },
} as const satisfies Readonly<Record<string, RefusalKind>>;

/** A body that is refused as a whole is answered with the code of the fault kept for it. */
export type RefusalCode = keyof typeof refusalKinds | FaultCode;

const statusOfFault = new Map<string, number>([
  ["body_too_large", 413],
  ["body_ratio", 413],
]);

export function statusOf(code: RefusalCode): number {
  if (code in refusalKinds) return refusalKinds[code as keyof typeof refusalKinds].status;
  return (code in faultKinds && statusOfFault.get(code)) || 400;
}
