import { indentJson } from "../text/indent-json.ts";

/** JSON as the client sent it, indented; never parsed, so nothing is rounded. */
export function JsonView({ text }: { readonly text: string }) {
  return <pre className="json">{indentJson(text)}</pre>;
}
