// Requests made from the route table: the types of what goes in and comes out follow from the route's name.

import type { ErrorAnswer } from "#api/contract/error.ts";
import { paths, type RouteName } from "#api/contract/paths.ts";
import type { AnswerOf, Call } from "#api/contract/routes.ts";
import { toSegment } from "#api/contract/segment.ts";
import { formatSearch } from "../app/search.ts";

interface LooseInput {
  readonly params?: Record<string, string | number>;
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
}

/** The server refused, in its own words. */
export class Refusal extends Error {
  readonly status: number;
  readonly answer: ErrorAnswer;

  constructor(status: number, answer: ErrorAnswer) {
    super(answer.message);
    this.name = "Refusal";
    this.status = status;
    // Which route a program should ask next is of no use to people.
    this.answer = /\b(GET|POST|PUT|DELETE) \//.test(answer.hint) ? { ...answer, hint: "" } : answer;
  }
}

/** Nobody answered. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super("The server does not answer.", { cause });
    this.name = "Unreachable";
  }
}

/** The address of a route; also for links to downloads. */
export function urlOf<N extends RouteName>(name: N, input: Call<N>): string {
  const { params = {}, query = {} } = input as LooseInput;
  const path = paths[name].path.replace(/:(\w+)/g, (_, key: string) => toSegment(String(params[key] ?? "")));
  return path + formatSearch(query);
}

export async function call<N extends RouteName>(name: N, input: Call<N>, signal?: AbortSignal): Promise<AnswerOf<N>> {
  const { body } = input as LooseInput;
  const response = await fetch(urlOf(name, input), {
    method: paths[name].method,
    credentials: "same-origin",
    ...(signal === undefined ? {} : { signal }),
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  }).catch(lost);
  if (!response.ok) throw new Refusal(response.status, await readRefusal(response));
  // An answer that breaks off on its way is not an answer.
  return (await response.json().catch(lost)) as AnswerOf<N>;
}

function lost(cause: unknown): never {
  if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
  throw new Unreachable(cause);
}

async function readRefusal(response: Response): Promise<ErrorAnswer> {
  const body: unknown = await response.json().catch(() => null);
  if (typeof body === "object" && body !== null && "code" in body && "message" in body) {
    return { hint: "", at: null, ...body } as ErrorAnswer;
  }
  return {
    code: `http_${response.status}`,
    message: `The server answered ${response.status} ${response.statusText}.`,
    hint: "",
    at: null,
  };
}
