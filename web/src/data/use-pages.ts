// Answers that come in pages, as one growing list.

import { type UseInfiniteQueryResult, useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import type { RouteName } from "#api/contract/paths.ts";
import type { AnswerOf, Call } from "#api/contract/routes.ts";
import { call } from "./client.ts";

interface Paged {
  readonly next: string | null;
}

type PagedRoute = { [N in RouteName]: AnswerOf<N> extends Paged ? N : never }[RouteName];

/** The answers to a question, page by page, to their end. */
export async function* readPages<N extends PagedRoute>(name: N, input: Call<N>): AsyncGenerator<AnswerOf<N>> {
  for (let cursor: string | null = ""; cursor !== null; ) {
    const answer: AnswerOf<N> = await call(name, withCursor(input, cursor));
    yield answer;
    cursor = (answer as unknown as Paged).next;
  }
}

function withCursor<N extends PagedRoute>(input: Call<N>, cursor: string): Call<N> {
  const { query, ...rest } = input as { query?: object };
  return { ...rest, query: { ...query, ...(cursor === "" ? {} : { cursor }) } } as unknown as Call<N>;
}

export function usePages<N extends PagedRoute, T>(
  name: N,
  input: Call<N>,
  rowsOf: (answer: AnswerOf<N>) => readonly T[],
) {
  const pages = useInfiniteQuery({
    queryKey: [name, input],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => call(name, withCursor(input, pageParam), signal),
    getNextPageParam: (last) => (last as unknown as Paged).next ?? undefined,
    placeholderData: (before) => before,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `rowsOf` only picks; a new function picks the same.
  const rows = useMemo(() => pages.data?.pages.flatMap((page) => rowsOf(page as AnswerOf<N>)) ?? [], [pages.data]);
  const first = pages.data?.pages[0] as AnswerOf<N> | undefined;
  return { pages, rows, first, more: useMore(pages) };
}

/** Asks for the next page, unless it is on its way. */
export function useMore({
  isFetchingNextPage,
  fetchNextPage,
}: Pick<UseInfiniteQueryResult, "isFetchingNextPage" | "fetchNextPage">): () => void {
  return useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [isFetchingNextPage, fetchNextPage]);
}
