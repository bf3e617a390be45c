// What tools ask: the routes of the API by name, in the server itself or over HTTP.

import type { Scope } from "#api/contract/admin.ts";
import type { ErrorAnswer } from "#api/contract/error.ts";
import type { LiveEvent } from "#api/contract/live.ts";
import type { RouteName } from "#api/contract/paths.ts";
import type { AnswerOf, Call } from "#api/contract/routes.ts";

export interface AgentApi {
  /** What the caller may do; tools that need more are not offered. */
  readonly scopes: ReadonlySet<Scope>;
  call<N extends RouteName>(name: N, request: Call<N>): Promise<AnswerOf<N>>;
  /** What happens to a run after a position, until the signal is aborted. */
  follow(run: string, after: string, signal: AbortSignal): AsyncIterable<LiveEvent>;
  /** The message of a failed call for its caller; null if it is a bug of ours. */
  explain(error: unknown): Pick<ErrorAnswer, "code" | "message" | "hint"> | null;
}
