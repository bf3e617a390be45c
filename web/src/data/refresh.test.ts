import { InfiniteQueryObserver, QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createRefresher } from "./refresh.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A server whose answers take three seconds, watched by one component. */
function slowServer() {
  const client = new QueryClient({ defaultOptions: { queries: { networkMode: "always", retry: false } } });
  let stored = 0;
  const seen: number[] = [];
  let aborted = 0;
  const observer = new QueryObserver(client, {
    queryKey: ["run", "a"],
    queryFn: ({ signal }) => {
      const answer = stored;
      signal.addEventListener("abort", () => aborted++);
      return new Promise<number>((resolve) => setTimeout(() => resolve(answer), 3_000));
    },
  });
  observer.subscribe(({ data }) => data !== undefined && seen.at(-1) !== data && seen.push(data));
  return { client, seen, aborted: () => aborted, store: (value: number) => (stored = value) };
}

test("answers slower than the changes still arrive, and the last of them holds the last change", async () => {
  const { client, seen, aborted, store } = slowServer();
  const refresher = createRefresher(client);
  for (let n = 1; n <= 20; n++) {
    store(n);
    refresher.ask("run a", { queryKey: ["run"] }, 1_000);
    await vi.advanceTimersByTimeAsync(500);
  }
  expect(seen.length).toBeGreaterThanOrEqual(2);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(seen.at(-1)).toBe(20);
  expect(aborted()).toBe(0);
  refresher.close();
});

test("a change while the very first answer is under way is asked for after it", async () => {
  const { client, seen, store } = slowServer();
  const refresher = createRefresher(client);
  store(1);
  refresher.ask("run a", { queryKey: ["run"] }, 1_000);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(seen).toEqual([0, 1]);
  refresher.close();
});

test("a list of many pages, all of which are asked for again, waits longer", async () => {
  const client = new QueryClient();
  let asked = 0;
  const observer = new InfiniteQueryObserver(client, {
    queryKey: ["events"],
    queryFn: async ({ pageParam }) => {
      asked++;
      return pageParam;
    },
    initialPageParam: 0,
    getNextPageParam: (last: number) => last + 1,
  });
  const leave = observer.subscribe(() => undefined);
  await vi.advanceTimersByTimeAsync(1);
  for (let page = 1; page < 9; page++) await observer.fetchNextPage();
  asked = 0;
  const refresher = createRefresher(client);
  refresher.ask("events", { queryKey: ["events"] }, 1_000);
  await vi.advanceTimersByTimeAsync(2_900);
  expect(asked).toBe(0);
  await vi.advanceTimersByTimeAsync(200);
  expect(asked).toBe(9);
  refresher.close();
  leave();
});

test("a closed refresher asks for nothing more", async () => {
  const { client, seen, store } = slowServer();
  const refresher = createRefresher(client);
  await vi.advanceTimersByTimeAsync(5_000);
  store(1);
  refresher.ask("run a", { queryKey: ["run"] }, 1_000);
  refresher.close();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(seen).toEqual([0]);
});
