// Cached answers for components. A query's key is its route and input, so that live events can say what is stale.

import {
  keepPreviousData,
  type QueryKey,
  queryOptions,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import type { RouteName } from "#api/contract/paths.ts";
import type { AnswerOf, Call } from "#api/contract/routes.ts";
import { call } from "./client.ts";
import { askSeries } from "./series-batch.ts";

export interface ApiOptions {
  readonly enabled?: boolean;
  /** Show the last answer while the next one is on its way. */
  readonly keep?: boolean;
  readonly refetchMs?: number;
  readonly staleMs?: number;
}

export function apiQuery<N extends RouteName>(name: N, input: Call<N>, options: ApiOptions = {}) {
  return queryOptions<AnswerOf<N>, Error, AnswerOf<N>, QueryKey>({
    queryKey: [name, input],
    queryFn: ({ signal }) => ask(name, input, signal),
    staleTime: options.staleMs ?? 5_000,
    ...(options.enabled === undefined ? {} : { enabled: options.enabled }),
    ...(options.keep === true ? { placeholderData: keepPreviousData as never } : {}),
    ...(options.refetchMs === undefined ? {} : { refetchInterval: options.refetchMs }),
  });
}

async function ask<N extends RouteName>(name: N, input: Call<N>, signal: AbortSignal): Promise<AnswerOf<N>> {
  if (name !== "series") return call(name, input, signal);
  const answer: unknown = await askSeries((input as Call<"series">).body, signal);
  return answer as AnswerOf<N>;
}

export function useApi<N extends RouteName>(
  name: N,
  input: Call<N>,
  options: ApiOptions = {},
): UseQueryResult<AnswerOf<N>, Error> {
  return useQuery(apiQuery(name, input, options));
}

/** A request that changes something; afterwards the named routes are asked again. */
export function useChange<N extends RouteName>(name: N, stale: readonly RouteName[]) {
  const client = useQueryClient();
  return useMutation<AnswerOf<N>, Error, Call<N>>({
    mutationFn: (input) => call(name, input),
    // The change is done when the server says so; what it made stale is asked for meanwhile.
    onSuccess: () => {
      for (const route of stale) void client.invalidateQueries({ queryKey: [route] });
    },
  });
}
