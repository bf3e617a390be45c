// Every code that an error answer can have, beside those of the faults: its status, and when it is given. The table is
// the reference page's source, so a code that is not here cannot be answered.

import { type FaultCode, faultKinds } from "#model/fault.ts";

export interface RefusalKind {
  readonly status: number;
  readonly means: string;
}

export const refusalKinds = {
  answer_too_large: { status: 422, means: "The store found more rows or bytes than an answer may have." },
  artifact_not_stored: { status: 404, means: "The run names this file, and nobody uploaded it." },
  backup_under_way: { status: 409, means: "A backup is being taken; there is one at a time." },
  blob_key_invalid: { status: 400, means: "A blob's or artifact's key has not the documented form." },
  blob_not_found: { status: 404, means: "There is no such blob, or none of the span and kind." },
  blob_unreadable: { status: 422, means: "The blob is no safetensors file, or a damaged one." },
  blobs_unavailable: { status: 503, means: "The bucket of the blobs does not answer at the moment." },
  body_syntax: { status: 400, means: "The body is not JSON." },
  busy: {
    status: 429,
    means: "The store lags behind and the journal's budget is spent; come again after Retry-After.",
  },
  command_bad_payload: { status: 400, means: "The command's payload lacks a field or has one of the wrong kind." },
  command_key_used: {
    status: 409,
    means: "Another command of the run, or the same with another payload, was sent with this idempotency key.",
  },
  command_not_open: { status: 409, means: "The command was delivered or settled already and cannot be cancelled." },
  command_run_ended: { status: 409, means: "The run has ended and no worker of it is connected." },
  command_too_large: { status: 413, means: "The command's payload is larger than a command may be." },
  command_too_many_open: { status: 429, means: "Too many commands of the run wait for its workers." },
  command_unknown_command: { status: 404, means: "The run has no command with this id." },
  command_unknown_type: { status: 400, means: "There is no such command; a word of your own is a `custom` command." },
  cursor_invalid: { status: 400, means: "The cursor is not one that this list gave out." },
  delete_changed: { status: 409, means: "Other runs match now than when they were counted; nothing was deleted." },
  delete_unclear: { status: 400, means: "Runs to delete are named by ids or by a filter, and it was both or neither." },
  disk_full: { status: 429, means: "The disk of the data folder is full; come again after Retry-After." },
  disk_failed: {
    status: 503,
    means: "The system lets the server open, read or write no file at the moment; ask again.",
  },
  encoding_unknown: { status: 415, means: "The body's Content-Encoding is none that the route takes." },
  event_not_found: { status: 404, means: "The run has no record at this place." },
  export_format: { status: 400, means: "There is no such export format." },
  export_kind: { status: 400, means: "The format needs the kind of rows to export, or has no such kind." },
  fault_not_found: { status: 404, means: "There is no such fault." },
  field_unknown: { status: 400, means: "Runs have no such field to sort, group or show by." },
  filter_syntax: { status: 400, means: "The filter cannot be read; `at` names the character." },
  host_not_allowed: { status: 403, means: "The Host header names another machine: a guard against DNS rebinding." },
  internal: { status: 500, means: "A bug of the server's; its log has the details." },
  journal_failed: { status: 503, means: "The disk fails the journal, so nothing can be accepted." },
  key_missing: { status: 401, means: "A key is needed here, and none was sent." },
  key_not_found: { status: 404, means: "There is no such key." },
  key_wrong: { status: 401, means: "The key is unknown or revoked." },
  launch_not_found: { status: 404, means: "There is no such launch or attempt." },
  login_throttled: { status: 429, means: "Too many wrong keys from this address; come again after Retry-After." },
  media_unknown: { status: 415, means: "The route takes JSON, and the Content-Type says otherwise." },
  origin_not_allowed: { status: 403, means: "A page of another site sent this: a guard against cross-site requests." },
  question_too_slow: { status: 504, means: "The store took longer for the answer than it may." },
  request_invalid: { status: 400, means: "A parameter or a field breaks the contract; `at` names it." },
  request_slow: { status: 503, means: "The request did not come in time; nothing of it was taken." },
  route_not_found: { status: 404, means: "There is no such route." },
  rule_invalid: { status: 400, means: "The rule cannot be read; the message says what is wrong." },
  rule_not_found: { status: 404, means: "There is no such rule." },
  rule_of_file: { status: 409, means: "The rule is in the settings file, and is changed there." },
  run_not_found: { status: 404, means: "No run was ever known by this id." },
  run_not_joined: { status: 409, means: "Nothing is joined to the run, so there is nothing to part." },
  runs_joined_already: { status: 409, means: "The two are one run already." },
  scope_missing: { status: 403, means: "The key lacks the scope that the route needs." },
  shutting_down: {
    status: 503,
    means: "The server was asked to stop before the answer was whole; ask again when it is back.",
  },
  span_not_found: { status: 404, means: "The run has no such span." },
  sql_refused: { status: 400, means: "The statement is not one reading SELECT, is wrong, or meets a limit." },
  store_elsewhere: { status: 409, means: "The data is in a ClickHouse server, which has its own way of doing this." },
  store_overloaded: { status: 503, means: "The store has no memory or no room for this at the moment." },
  store_unavailable: { status: 503, means: "The store does not answer at the moment; it is being started again." },
  tensor_not_found: { status: 404, means: "The run has no snapshot of this tensor." },
  timeline_too_large: { status: 422, means: "The run has more spans than a timeline is drawn of." },
  view_not_found: { status: 404, means: "No view of the page has this name." },
  workspace_foreign: { status: 403, means: "The key belongs to another workspace." },
} as const satisfies Readonly<Record<string, RefusalKind>>;

/** Input that is refused as a whole is answered with the code of the fault that is kept of it. */
export type RefusalCode = keyof typeof refusalKinds | FaultCode;

const statusOfFault = new Map<string, number>([
  ["body_too_large", 413],
  ["body_ratio", 413],
]);

export function statusOf(code: RefusalCode): number {
  if (code in refusalKinds) return refusalKinds[code as keyof typeof refusalKinds].status;
  return (code in faultKinds && statusOfFault.get(code)) || 400;
}
