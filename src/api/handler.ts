// What a route's handler gets and gives. The server checks key, scope and schema before it calls one; a handler answers
// with the contract's JSON, with JSON text that is ready to send, or with a file, and refuses by throwing a Refusal.

import { formatJson } from "#base/json/format.ts";
import { formatInSteps } from "#base/json/format-in-steps.ts";
import type { Texts } from "#base/json/texts.ts";
import type { JsonValue } from "#base/json/value.ts";
import { inTurns } from "#base/turns.ts";
import type { Workspace } from "#model/names.ts";
import type { Scope } from "./contract/admin.ts";
import type { RouteName } from "./contract/paths.ts";
import type { AnswerOf, BodyOf, ParamsOf, QueryOf } from "./contract/routes.ts";

/** Who asks, once the server has let them in. */
export interface Caller {
  readonly workspace: Workspace;
  readonly scopes: ReadonlySet<Scope>;
  /** Of the workspace that the server itself is set to: with `admin`, what concerns all workspaces is theirs. */
  readonly isOfServer: boolean;
  /** For the audit: the key's name, or `local` for someone on this machine without one. */
  readonly name: string;
  readonly keyId: string | null;
  /** Tells one client from another without saying its key: one of the ties between batches of one process. */
  readonly source: string;
}

export interface HandlerRequest<N extends RouteName> {
  readonly params: ParamsOf<N>;
  readonly query: QueryOf<N>;
  readonly body: BodyOf<N>;
  readonly caller: Caller;
  /** Aborted when the caller goes away or the server drains. */
  readonly signal: AbortSignal;
  readonly lastEventId: string | undefined;
}

/** JSON that is already text, in pieces when it is long, or that streams out of the store. */
export class JsonBody {
  readonly body: string | Texts | AsyncIterable<Uint8Array>;
  constructor(body: string | Texts | AsyncIterable<Uint8Array>) {
    this.body = body;
  }
}

/** Bytes with a type of their own. With a name they are offered for download, never shown. */
export class FileBody {
  readonly type: string;
  readonly name: string | null;
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array>;
  constructor(type: string, body: string | Uint8Array | AsyncIterable<Uint8Array>, name: string | null = null) {
    this.type = type;
    this.body = body;
    this.name = name;
  }
}

export type Handler<N extends RouteName> = (
  request: HandlerRequest<N>,
) => Promise<AnswerOf<N> | JsonBody | FileBody> | AnswerOf<N> | JsonBody | FileBody;

/** Of the routes that this room answers; the server answers the others itself. */
export type Handlers = { readonly [N in RouteName]?: Handler<N> };

/** For answers with floats that a client sent: JSON.stringify would write a negative zero without its sign. */
export async function toExactJson<A extends object>(answer: A): Promise<JsonBody> {
  return new JsonBody(await inTurns(formatInSteps(answer, (part) => formatJson(part as JsonValue, "strict"))));
}
