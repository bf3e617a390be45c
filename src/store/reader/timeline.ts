// Spans and node executions for the timeline, as columns straight from the engine's native blocks.

import { noIndex, type TimelineSpans, timelineFlags } from "#model/timeline.ts";
import { type DecodedBlock, type DecodedColumn, decodeBlocks } from "#store/native/decode-block.ts";
import type { Query, ReadOptions, Store } from "#store/store.ts";

/** A lane's name: rank, process and thread; `node` for pipeline nodes. */
const laneSql = "concat(toString(rank), '/', ifNull(toString(pid), ''), '/', ifNull(toString(thread_id), ''))";
const inGroups = "group_key IN {groups:Array(String)}";

/** 16 bytes of an id: its own when it is 32 hex, else a hash. */
const idSql = (column: string) =>
  `if(match(${column}, '^[0-9a-f]{32}$'), toFixedString(unhex(${column}), 16), MD5(${column}))`;

export async function readTimelineSpans(
  store: Store,
  groups: readonly string[],
  options: ReadOptions = {},
): Promise<TimelineSpans> {
  const params = { groups: [...groups] };
  const { database } = store;
  // A set of a million ids as texts would take a third of the engine's memory, and there are two of them.
  const hasNoParent = `sipHash64(assumeNotNull(parent_id)) NOT IN (SELECT sipHash64(span_id) FROM ${database}.spans WHERE ${inGroups})`;
  const dict = (text: string) => `toLowCardinality(${text})`;
  const placed = `SELECT ${idSql("span_id")} AS id, start_ns, end_ns, ifNull(gpu_ns, -1) AS gpu,
      ifNull(index, toInt64(${noIndex})) AS idx, ${dict("toString(name)")} AS name, ${dict(laneSql)} AS lane,
      toUInt8(if(isNotNull(parent_id) AND ${hasNoParent},
        ${timelineFlags.orphan}, 0)) AS flags
    FROM ${database}.spans WHERE ${inGroups}`;
  // An ancestor that never arrived spans its children, so that they still lie below something.
  const placeholders = `SELECT MD5(concat('placeholder', assumeNotNull(parent_id))) AS id, min(start_ns) AS start_ns,
      max(end_ns) AS end_ns, toInt64(-1) AS gpu, toInt64(${noIndex}) AS idx,
      ${dict("if(max(name = 'epoch') = 1, 'session (not arrived)', 'not arrived')")} AS name,
      ${dict(`any(${laneSql})`)} AS lane, toUInt8(${timelineFlags.placeholder}) AS flags
    FROM ${database}.spans WHERE ${inGroups} AND isNotNull(parent_id)
      AND ${hasNoParent} GROUP BY parent_id`;
  const nodes = `SELECT MD5(event_id) AS id, start_ns, greatest(end_ns, start_ns) AS end_ns, toInt64(-1) AS gpu,
      toInt64(${noIndex}) AS idx, ${dict("if(processor = '', node_id, toString(processor))")} AS name,
      ${dict("'node'")} AS lane,
      toUInt8(${timelineFlags.node} + if(status = 'error', ${timelineFlags.error}, 0)) AS flags
    FROM ${database}.nodes WHERE ${inGroups} AND start_ns > 0`;
  const sql = `${placed} UNION ALL ${placeholders} UNION ALL ${nodes}`;
  const chunks: Uint8Array[] = [];
  for await (const chunk of store.stream({ sql, params }, { ...options, format: "Native" })) chunks.push(chunk);
  const odd = await store.query<{ id: string; text: string }>(
    {
      sql: `SELECT lower(hex(MD5(span_id))) AS id, span_id AS text FROM ${database}.spans
          WHERE ${inGroups} AND NOT match(span_id, '^[0-9a-f]{32}$')
        UNION ALL SELECT lower(hex(MD5(event_id))), concat('node:', event_id) FROM ${database}.nodes WHERE ${inGroups}`,
      params,
    },
    options,
  );
  return gather(decodeBlocks(Buffer.concat(chunks)), new Map(odd.map(({ id, text }) => [id, text])));
}

function gather(blocks: readonly DecodedBlock[], oddIds: ReadonlyMap<string, string>): TimelineSpans {
  const count = blocks.reduce((sum, block) => sum + block.rows, 0);
  const baseNs = smallest(blocks);
  const names = new Interner();
  const lanes = new Interner();
  const spans = {
    count,
    baseNs,
    start: new Float64Array(count),
    end: new Float64Array(count),
    gpu: new Float64Array(count),
    index: new BigInt64Array(count),
    ids: new Uint8Array(count * 16),
    oddIds,
    name: new Uint32Array(count),
    names: names.texts,
    lane: new Uint32Array(count),
    lanes: lanes.texts,
    flags: new Uint8Array(count),
  };
  let at = 0;
  for (const { rows, columns } of blocks) {
    if (rows === 0) continue;
    const start = int64(columns, "start_ns");
    const end = int64(columns, "end_ns");
    const gpu = int64(columns, "gpu");
    for (let row = 0; row < rows; row++) {
      spans.start[at + row] = Number((start[row] as bigint) - baseNs);
      spans.end[at + row] = Number((end[row] as bigint) - baseNs);
      spans.gpu[at + row] = Number(gpu[row] as bigint);
    }
    spans.index.set(int64(columns, "idx"), at);
    spans.ids.set((columns.get("id") as Extract<DecodedColumn, { kind: "fixed" }>).bytes, at * 16);
    spans.flags.set((columns.get("flags") as Extract<DecodedColumn, { kind: "uint8" }>).values, at);
    names.copy(columns.get("name") as DecodedColumn, spans.name, at);
    lanes.copy(columns.get("lane") as DecodedColumn, spans.lane, at);
    at += rows;
  }
  return spans;
}

function smallest(blocks: readonly DecodedBlock[]): bigint {
  let least: bigint | null = null;
  for (const { rows, columns } of blocks)
    if (rows > 0) for (const start of int64(columns, "start_ns")) if (least === null || start < least) least = start;
  return least ?? 0n;
}

function int64(columns: ReadonlyMap<string, DecodedColumn>, name: string): BigInt64Array {
  return (columns.get(name) as Extract<DecodedColumn, { kind: "int64" }>).values;
}

/** One dictionary out of the dictionaries of many blocks. */
class Interner {
  readonly texts: string[] = [];
  private readonly codes = new Map<string, number>();

  copy(column: DecodedColumn, into: Uint32Array, at: number): void {
    const { keys, codes } = column as Extract<DecodedColumn, { kind: "dict" }>;
    // A block's dictionary also holds keys that none of its rows has.
    const mapped = new Int32Array(keys.length).fill(-1);
    for (let row = 0; row < codes.length; row++) {
      const code = codes[row] as number;
      if (mapped[code] === -1) mapped[code] = this.intern(keys[code] as string);
      into[at + row] = mapped[code] as number;
    }
  }

  private intern(text: string): number {
    const known = this.codes.get(text);
    if (known !== undefined) return known;
    this.codes.set(text, this.texts.length);
    return this.texts.push(text) - 1;
  }
}

/** The number of rows and the last journal position: together they change with every row that is added. */
export function timelineVersionQuery(database: string, groups: readonly string[]): Query {
  const of = (table: string) => `SELECT count() AS n, max(jpos) AS last FROM ${database}.${table} WHERE ${inGroups}`;
  return {
    sql: `SELECT concat(toString(sum(n)), '-', toString(max(last))) AS version FROM (${of("spans")} UNION ALL ${of("nodes")})`,
    params: { groups: [...groups] },
  };
}

export interface MarkTick {
  readonly lane: string;
  readonly name: string;
  readonly ts_ns: string;
  readonly merged: number;
}

/** Marks of a window, those of one name and pixel merged. */
export function readMarkTicks(
  store: Store,
  window: {
    readonly groups: readonly string[];
    readonly fromNs: bigint;
    readonly toNs: bigint;
    readonly widthPx: number;
  },
): Promise<MarkTick[]> {
  const { database } = store;
  const marks = `${database}.marks WHERE ${inGroups} AND ts_ns >= {from:Int64} AND ts_ns < {to:Int64}`;
  return store.query({
    sql: `SELECT lane, name, min(m.ts_ns) AS ts_ns, toUInt32(count()) AS merged FROM (
        SELECT toString(name) AS name, ts_ns, span_id FROM ${marks}) AS m
      LEFT JOIN (SELECT span_id, ${laneSql} AS lane FROM ${database}.spans
        WHERE ${inGroups} AND span_id IN (SELECT span_id FROM ${marks})) AS s ON s.span_id = m.span_id
      GROUP BY lane, name, intDiv((m.ts_ns - {from:Int64}) * {width:Int64}, {to:Int64} - {from:Int64})
      ORDER BY ts_ns LIMIT 20000`,
    params: { groups: [...window.groups], from: window.fromNs, to: window.toNs, width: window.widthPx },
  });
}
