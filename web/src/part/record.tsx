// Records as their client sent them.

import { urlOf } from "../data/client.ts";
import { formatBytes } from "../text/format-number.ts";
import { indentJson } from "../text/indent-json.ts";

/** JSON as the client sent it, indented; never parsed, so nothing is rounded. */
export function JsonView({ text }: { readonly text: string }) {
  return <pre className="json">{indentJson(text)}</pre>;
}

interface WholeRecordProps {
  readonly run: string;
  readonly record: string;
  readonly bytes: number | undefined;
}

/** Where the whole of a record is, of which only the beginning is shown; nothing when all of it is. */
export function WholeRecord({ run, record, bytes }: WholeRecordProps) {
  if (bytes === undefined) return null;
  return (
    <a href={urlOf("event", { params: { id: run, event: record } })} download title="Only the beginning is shown here.">
      the whole record, {formatBytes(bytes)}
    </a>
  );
}
