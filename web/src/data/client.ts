// Requests made from the route table: the types of what goes in and comes out follow from the route's name.

import type { ErrorAnswer } from "#api/contract/error.ts";
import { paths, type RouteName } from "#api/contract/paths.ts";
import type { AnswerOf, BodyOf, ParamsOf, QueryOf } from "#api/contract/routes.ts";
import { formatSearch } from "../app/search.ts";

type Part<K extends string, V> = V extends undefined ? unknown : { readonly [P in K]: V };
type OptionalPart<K extends string, V> = V extends undefined
  ? unknown
  : Record<string, never> extends V
    ? { readonly [P in K]?: V }
    : { readonly [P in K]: V };

export type InputOf<N extends RouteName> = Part<"params", ParamsOf<N>> &
  OptionalPart<"query", QueryOf<N>> &
  Part<"body", BodyOf<N>>;

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
    this.answer = answer;
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
export function urlOf<N extends RouteName>(name: N, input: InputOf<N>): string {
  const { params = {}, query = {} } = input as LooseInput;
  const path = paths[name].path.replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(String(params[key] ?? "")));
  return path + formatSearch(query);
}

export async function call<N extends RouteName>(
  name: N,
  input: InputOf<N>,
  signal?: AbortSignal,
): Promise<AnswerOf<N>> {
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
