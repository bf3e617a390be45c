// Panels that come on screen together ask together: their questions for series are joined into few requests. One request
// is bounded, so that of many runs the first panels are drawn while the others are still on their way.

import type { SeriesAnswer, SeriesBody } from "#api/contract/series.ts";
import { call } from "./client.ts";

/** Buckets that one request may ask for: about 10 MB of answer. */
const bucketsMax = 60_000;
const keysMax = 100;

interface Waiting {
  readonly body: SeriesBody;
  readonly signal: AbortSignal;
  resolve(answer: SeriesAnswer): void;
  reject(error: unknown): void;
}

let waiting: Waiting[] = [];

/** Like asking for `body` alone. */
export function askSeries(body: SeriesBody, signal: AbortSignal): Promise<SeriesAnswer> {
  return new Promise((resolve, reject) => {
    if (waiting.length === 0) setTimeout(flush);
    waiting.push({ body, signal, resolve, reject });
  });
}

function flush(): void {
  const all = waiting;
  waiting = [];
  for (const together of toRequests(all.map(({ body }) => body))) void send(together.map((i) => all[i] as Waiting));
}

/** Which questions go into one request, by their places. */
export function toRequests(bodies: readonly SeriesBody[]): number[][] {
  const requests: { like: string; keys: Set<string>; places: number[]; keysMax: number }[] = [];
  bodies.forEach((body, place) => {
    const like = JSON.stringify({ ...body, keys: undefined, phase: undefined });
    const cost = body.runs.length * (body.buckets ?? 1000);
    const limit = Math.max(1, Math.min(keysMax, Math.floor(bucketsMax / cost)));
    const open = requests.findLast((request) => request.like === like);
    const keys = new Set([...(open?.keys ?? []), ...body.keys]);
    if (open !== undefined && keys.size <= open.keysMax) {
      open.keys = keys;
      open.places.push(place);
    } else requests.push({ like, keys: new Set(body.keys), places: [place], keysMax: limit });
  });
  return requests.map(({ places }) => places);
}

async function send(together: readonly Waiting[]): Promise<void> {
  const abort = new AbortController();
  const live = new Set(together);
  for (const one of together) {
    const leave = (): void => {
      live.delete(one);
      one.reject(one.signal.reason);
      if (live.size === 0) abort.abort();
    };
    if (one.signal.aborted) leave();
    else one.signal.addEventListener("abort", leave, { once: true });
  }
  if (live.size === 0) return;
  try {
    const answer = await call("series", { body: joinBodies(together.map(({ body }) => body)) }, abort.signal);
    for (const one of live) one.resolve(pickSeries(answer, one.body));
  } catch (error) {
    for (const one of live) one.reject(error);
  }
}

function joinBodies(bodies: readonly SeriesBody[]): SeriesBody {
  const [first, ...rest] = bodies as [SeriesBody, ...SeriesBody[]];
  if (rest.length === 0) return first;
  const { phase, ...options } = first;
  const samePhase = rest.every((body) => body.phase === phase);
  return {
    ...options,
    ...(samePhase && phase !== undefined ? { phase } : {}),
    keys: [...new Set(bodies.flatMap((body) => body.keys))],
  };
}

function pickSeries(answer: SeriesAnswer, body: SeriesBody): SeriesAnswer {
  const keys = new Set(body.keys);
  const isMine = (phase: string) => body.phase === undefined || body.phase === phase;
  return { ...answer, series: answer.series.filter((series) => keys.has(series.key) && isMine(series.phase)) };
}
