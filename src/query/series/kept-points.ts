// Points of metrics that were asked for recently: a chart is zoomed, shown by another axis, and refreshed while its run
// lives. Points are kept by group and key, with the fingerprint of the rows they were made of. When the stored rows are
// no longer these, those that came since are added; when others came or went, they are read again.

import { createHash } from "node:crypto";
import type { Kept, KeptShelf } from "#query/kept.ts";
import { beforeAll, type Fingerprint, isSameRows } from "#store/reader/fingerprint.ts";
import {
  type PointBlock,
  type PointRequest,
  readFirstTime,
  readPointBlocks,
  readPointParts,
  readPointState,
  type StoredPoints,
} from "#store/reader/points.ts";
import { type Store, withOptions } from "#store/store.ts";
import { bytesOf, PointGatherer, type Points } from "./points.ts";

/** What points are read from. */
export type PointReads = ReturnType<typeof pointReads>;

export function pointReads(store: Store) {
  return {
    parts: (request: PointRequest) => readPointParts(store, request),
    state: (request: PointRequest, before: readonly bigint[]) => readPointState(store, request, before),
    blocks: (
      request: PointRequest,
      range: { readonly after: readonly bigint[]; readonly last: bigint },
      signal: AbortSignal | undefined,
    ): AsyncIterable<PointBlock> => readPointBlocks(withOptions(store, { signal }), request, range),
    firstTime: (groups: readonly string[]) => readFirstTime(store, groups),
  };
}

interface Entry {
  readonly points: Points;
  readonly rows: Fingerprint;
  /** All rows up to this journal position are among them. */
  readonly last: bigint;
}

/** A point takes about 40 bytes. */
const pointsMaxUsual = 4_000_000;

const requestsMax = 1000;

/** A short key for a request, which may name hundreds of groups. */
function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

const noRows: Fingerprint = { rows: 0, sum: "0" };

export class KeptPoints {
  private readonly reads: PointReads;
  /** A request for more points is not answered from here. */
  private readonly pointsMax: number;
  /** By kind, group and key. */
  private readonly kept: KeptShelf<Entry>;
  /** By request: the parts that its points were last seen in. */
  private readonly seen = new Map<string, string>();

  constructor(reads: PointReads, kept: Kept, pointsMax: number = pointsMaxUsual) {
    this.reads = reads;
    this.kept = kept.shelf("points");
    this.pointsMax = pointsMax;
  }

  /** By group and key as `pointsId` names them, without those that have no points; null when there are too many. */
  async get(request: PointRequest, signal?: AbortSignal): Promise<ReadonlyMap<string, Points> | null> {
    const { points, parts } = await this.reads.parts(request);
    if (points > this.pointsMax) return null;
    const id = digest(JSON.stringify(request));
    if (this.seen.get(id) === parts) {
      const known = this.find(request);
      if (known !== null) return known;
    }
    const { found, isSettled } = await this.bring(request, signal);
    this.seen.delete(id);
    // The parts were named before the rows were read: rows that came in between are looked for the next time.
    if (isSettled) this.seen.set(id, parts);
    for (const oldest of this.seen.keys()) if (this.seen.size > requestsMax) this.seen.delete(oldest);
    return found;
  }

  /** When the run of these groups began. */
  startOf(groups: readonly string[]): Promise<bigint> {
    return this.reads.firstTime(groups);
  }

  /** The journal position of the last point of these. */
  async lastOf(request: PointRequest): Promise<bigint> {
    const before = request.groups.map(() => beforeAll);
    return lastOf(await this.reads.state(request, before));
  }

  /** The points up to a journal position, block by block, too many to be kept. */
  async *passBy(request: PointRequest, last: bigint, signal: AbortSignal | undefined) {
    const range = { after: request.groups.map(() => beforeAll), last };
    for await (const block of this.reads.blocks(request, range, signal)) {
      const gatherers = new Map<string, PointGatherer>();
      forEachRun(block, (group, _key, from, to) => {
        const gatherer = gatherers.get(group) ?? new PointGatherer(request.kind !== "steps", to - from);
        gatherers.set(group, gatherer);
        gatherer.addRows(block, from, to);
      });
      for (const [group, gatherer] of gatherers) yield { group, points: gatherer.finish() };
    }
  }

  /** Null when some are no longer kept. */
  private find(request: PointRequest): Map<string, Points> | null {
    const found = new Map<string, Points>();
    for (const { group, key, name } of pairsOf(request)) {
      const kept = this.kept.get(name);
      if (kept === undefined) return null;
      if (kept.points.count > 0) found.set(pointsId(group, key), kept.points);
    }
    return found;
  }

  private async bring(request: PointRequest, signal: AbortSignal | undefined) {
    const { groups } = request;
    const pairs = pairsOf(request);
    const names = new Map(pairs.map(({ group, key, name }) => [pointsId(group, key), name]));
    const old = new Map(pairs.map(({ name }) => [name, this.kept.get(name)]));
    // Marks take their places from spans, whose coming does not show in the marks' own rows.
    const lasts = request.kind === "places" ? new Map<string, bigint>() : commonLasts(pairs, old);
    const after = groups.map((group) => lasts.get(group) ?? beforeAll);
    const state = toStates(await this.reads.state(request, after));
    const stateOf = (group: string, key: string) => state.get(pointsId(group, key));
    const canGrow = pairs.every(({ group, key, name }) => {
      const kept = old.get(name);
      if (kept === undefined || !lasts.has(group)) return false;
      return isSameRows(stateOf(group, key)?.before ?? noRows, kept.rows);
    });
    const last = lastOf(state.values());
    const found = new Map<string, Points>();
    const range = { after: canGrow ? after : groups.map(() => beforeAll), last };
    const knownOf = (id: string) => (canGrow ? old.get(names.get(id) as string)?.points : undefined);
    const gatherers = await this.gather(request, range, state, knownOf, signal);
    for (const id of names.keys()) found.set(id, gatherers.get(id)?.finish() ?? knownOf(id) ?? noPoints(request));
    const isSettled = await this.keep(request, state, last, found);
    for (const [id, points] of found) if (points.count === 0) found.delete(id);
    return { found, isSettled };
  }

  private async gather(
    request: PointRequest,
    range: { readonly after: readonly bigint[]; readonly last: bigint },
    state: ReadonlyMap<string, StoredPoints>,
    knownOf: (id: string) => Points | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Map<string, PointGatherer>> {
    const gatherers = new Map<string, PointGatherer>();
    if (state.size === 0) return gatherers;
    for await (const block of this.reads.blocks(request, range, signal))
      forEachRun(block, (group, key, from, to) => {
        const id = pointsId(group, key);
        let gatherer = gatherers.get(id);
        if (gatherer === undefined) {
          gatherer = new PointGatherer(request.kind !== "steps", state.get(id)?.all.rows ?? to - from);
          const known = knownOf(id);
          if (known !== undefined) gatherer.addPoints(known);
          gatherers.set(id, gatherer);
        }
        gatherer.addRows(block, from, to);
      });
    return gatherers;
  }

  /** False when rows were written meanwhile that may or may not be among those that were read. */
  private async keep(
    request: PointRequest,
    state: ReadonlyMap<string, StoredPoints>,
    last: bigint,
    found: ReadonlyMap<string, Points>,
  ): Promise<boolean> {
    const now = toStates(
      await this.reads.state(
        request,
        request.groups.map(() => last),
      ),
    );
    const isSame = (id: string) => isSameRows(now.get(id)?.before ?? noRows, state.get(id)?.all ?? noRows);
    if (![...new Set([...now.keys(), ...state.keys()])].every(isSame)) return false;
    for (const { group, key, name } of pairsOf(request)) {
      const id = pointsId(group, key);
      const points = found.get(id) as Points;
      this.kept.set(name, { points, rows: state.get(id)?.all ?? noRows, last }, bytesOf(points));
    }
    return true;
  }
}

export function pointsId(group: string, key: string): string {
  return `${group}\n${key}`;
}

interface Pair {
  readonly group: string;
  readonly key: string;
  /** What its points are kept under. */
  readonly name: string;
}

function pairsOf({ groups, keys, kind }: PointRequest): Pair[] {
  // The spans that places come from may be of any group of the request.
  const scope = kind === "places" ? digest(groups.join("\n")) : kind;
  return groups.flatMap((group) => keys.map((key) => ({ group, key, name: `${scope}\n${pointsId(group, key)}` })));
}

/** The positions up to which all points of a group are kept, of groups where it is the same for all keys. */
function commonLasts(pairs: readonly Pair[], old: ReadonlyMap<string, Entry | undefined>): Map<string, bigint> {
  const lasts = new Map<string, bigint>();
  for (const [group, own] of Map.groupBy(pairs, (pair) => pair.group)) {
    const [last, ...others] = new Set(own.map(({ name }) => old.get(name)?.last ?? beforeAll));
    if (others.length === 0 && last !== undefined && last > beforeAll) lasts.set(group, last);
  }
  return lasts;
}

function toStates(rows: readonly StoredPoints[]): Map<string, StoredPoints> {
  return new Map(rows.map((row) => [pointsId(row.group, row.key), row]));
}

function lastOf(states: Iterable<StoredPoints>): bigint {
  let last = beforeAll;
  for (const one of states) if (one.last > last) last = one.last;
  return last;
}

function noPoints(request: PointRequest): Points {
  return new PointGatherer(request.kind !== "steps", 0).finish();
}

/** Rows of one group and key lie together mostly. */
function forEachRun(
  { rows, group, key }: PointBlock,
  take: (group: string, key: string, from: number, to: number) => void,
): void {
  for (let from = 0; from < rows; ) {
    let to = from + 1;
    while (to < rows && group.codes[to] === group.codes[from] && key.codes[to] === key.codes[from]) to++;
    take(group.keys[group.codes[from] as number] as string, key.keys[key.codes[from] as number] as string, from, to);
    from = to;
  }
}
