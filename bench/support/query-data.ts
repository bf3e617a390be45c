// Stored data of the sizes that the query figures name, made by the engine itself: what a query costs does not depend on
// how the rows got into the store.

import type { Store } from "#store/store.ts";

export interface QuerySizes {
  readonly runs: number;
  readonly fields: number;
  readonly seriesPoints: number;
  readonly overlayRuns: number;
  readonly overlayPoints: number;
  readonly spans: number;
  readonly launchRuns: number;
}

const nowNs = "1794710396000000000";
const arrival = `toInt64(${nowNs}) AS received_ns, toInt64(1) AS jpos, toUInt32(number % 1000000) AS jrow`;

export async function fillRuns(store: Store, sizes: QuerySizes): Promise<void> {
  const insert = toInsert(store);
  await fillTable(insert, sizes);
  await insert("metrics", sizes.seriesPoints, pointColumns("'default/x/long'", "number"));
  const overlay = `concat('default/x/overlay-', toString(intDiv(number, ${sizes.overlayPoints})))`;
  await insert(
    "metrics",
    sizes.overlayRuns * sizes.overlayPoints,
    pointColumns(overlay, `number % ${sizes.overlayPoints}`),
  );
  await insert("groups", 1, groupColumns("'default/x/long'", "'long'", "xtrack"));
  await insert(
    "groups",
    sizes.overlayRuns,
    groupColumns(numbered("default/x/overlay-"), numbered("overlay-"), "xtrack"),
  );
  await fillSpans(insert, sizes.spans);
}

/** Many runs for the table, with fields only. */
export function fillManyRuns(store: Store, table: Pick<QuerySizes, "runs" | "fields">): Promise<void> {
  return fillTable(toInsert(store), table);
}

type Insert = (table: string, rows: number, columns: string) => Promise<void>;

function toInsert(store: Store): Insert {
  return async (table, rows, columns) => {
    // In slices, as a writer would: the engine holds one slice in memory, and the parts are like real ones.
    for (let from = 0; from < rows; from += 100_000) {
      const count = Math.min(100_000, rows - from);
      await store.ddl(`INSERT INTO ${store.database}.${table} (${namesOf(columns)})
        SELECT ${columns} FROM (SELECT number + ${from} AS number FROM numbers(${count})) ORDER BY number`);
    }
  };
}

async function fillTable(insert: Insert, { runs, fields }: Pick<QuerySizes, "runs" | "fields">): Promise<void> {
  const group = `concat('default/x/run-', toString(intDiv(number, ${fields})))`;
  await insert("groups", runs, groupColumns(numbered("default/x/run-"), numbered("run-"), "xtrack"));
  const event = (type: string, payload: string) => `${numbered("default/x/run-")} AS group_key, 'xtrack' AS protocol,
    '${type}' AS type, 'w0' AS worker, toInt64(${nowNs}) + number AS ts_ns, toInt64(1) AS seq, ${payload} AS payload, ${arrival}`;
  const start = `concat('{"run_id":{"id":"run-', toString(number), '","exp_id":"sweep"},"name":"run ', toString(number), '","tags":["a","b"]}')`;
  await insert("events", runs, event("run_start", start));
  await insert(
    "events",
    runs,
    event("run_end", `if(number % 10 = 0, '{"status":"failed"}', '{"status":"completed"}')`),
  );
  await insert(
    "params",
    runs * fields,
    `${group} AS group_key, concat('param_', toString(number % ${fields})) AS name, 'w0' AS worker,
    concat('param_', toString(number % ${fields})) AS key, toString(cityHash64(number) % 1000) AS value,
    toFloat64(cityHash64(number) % 1000) AS value_num, toInt64(${nowNs}) AS ts_ns, toInt64(number % ${fields}) AS seq, ${arrival}`,
  );
  await insert(
    "metrics",
    runs * fields,
    `${group} AS group_key, concat('metric_', toString(number % ${fields})) AS key, 'w0' AS worker, 'train' AS phase,
    toInt64(100) AS step, toInt64(${nowNs}) AS ts_ns, (cityHash64(number) % 100000) / 1000 AS value, 'xtrack' AS source,
    toInt64(number % ${fields}) AS seq, toInt32(-1) AS entry, ${arrival}`,
  );
}

/** Steps of four phases each, on eight ranks; every fifth span is a step, and has a mark. */
async function fillSpans(insert: Insert, spans: number): Promise<void> {
  await insert("groups", 1, groupColumns("'default/c/trace'", "'trace'", "cirron"));
  // The batch that named the run, or the server would call it by its root span.
  await insert(
    "cirron_batches",
    1,
    `'default' AS workspace, 'trace' AS batch_id, 'bench' AS source, 'default/c/trace' AS group_key,
    'trace' AS run_override, toInt64(1) AS version`,
  );
  const id = (n: string) => `lower(concat(hex(cityHash64(${n})), hex(cityHash64(${n}, 1))))`;
  await insert(
    "spans",
    spans,
    `'default/c/trace' AS group_key, ${id("number")} AS span_id,
    if(number % 5 = 0, NULL, ${id("number - number % 5")}) AS parent_id,
    ['step', 'forward', 'backward', 'optimizer_step', 'data'][number % 5 + 1] AS name,
    if(number % 5 = 0, toInt64(intDiv(number, 40)), NULL) AS index,
    toInt64(${nowNs}) + intDiv(number, 40) * 1000000 + (number % 5) * 190000 AS start_ns,
    start_ns + if(number % 5 = 0, 990000, 150000) AS end_ns, toInt64(1200) AS gpu_ns, toInt64(7) AS thread_id,
    toInt64(100 + intDiv(number, 5) % 8) AS pid, toInt32(intDiv(number, 5) % 8) AS rank, '{}' AS attrs, '[]' AS mark_ids, ${arrival}`,
  );
  await insert(
    "marks",
    Math.floor(spans / 5),
    `'default/c/trace' AS group_key, ${id("number + 1000000007")} AS mark_id, ${id("number * 5")} AS span_id,
    'loss' AS name, 'float' AS value_type, toFloat64(number) AS value_float, '{}' AS attrs,
    toInt64(${nowNs}) + intDiv(number, 8) * 1000000 + 500000 AS ts_ns, 'point' AS kind, ${arrival}`,
  );
}

export async function fillLaunch(store: Store, runs: number): Promise<void> {
  const insert: Insert = (table, rows, columns) =>
    store.ddl(`INSERT INTO ${store.database}.${table} (${namesOf(columns)}) SELECT ${columns} FROM numbers(${rows})`);
  const own = `${numbered("default/s/run-")} AS group_key, ${numbered("run-")} AS run_id`;
  const launch = "'default/l/sweep/1' AS launch_key, 'sweep' AS launch_id, toInt64(1) AS attempt";
  const line = (type: string, more: string) => `'${type}' AS type, toInt64(${nowNs}) + number * 1000 AS ts_ns,
    lower(hex(MD5(concat(toString(number), '${type}')))) AS event_id, ${more}, ${arrival}`;
  await insert(
    "lifecycle",
    1,
    `'default/l/sweep/1' AS group_key, ${launch}, ${line("run_space_start", `toInt64(${runs}) AS planned_runs`)}`,
  );
  const context = `concat('{"lr":', toString(number % 100), ',"seed":', toString(intDiv(number, 100)), '}') AS context`;
  const ids = "'pipeline' AS pipeline_id, 'semantic' AS semantic_id, 'config' AS config_id, ['n1', 'n2'] AS expected";
  await insert(
    "lifecycle",
    runs,
    `${own}, ${launch}, ${line("pipeline_start", `toInt64(number) AS run_index, ${context}, ${ids}`)}`,
  );
  await insert("lifecycle", runs, `${own}, ${line("pipeline_end", "if(number % 50 = 0, 'error', 'ok') AS outcome")}`);
  for (const node of ["n1", "n2"]) {
    await insert(
      "nodes",
      runs,
      `${numbered("default/s/run-")} AS group_key, '${node}' AS node_id, 'pipeline' AS pipeline_id, 'succeeded' AS status,
      toInt64(${nowNs}) + number * 1000 AS start_ns, start_ns + 500 AS end_ns, toInt64(5) AS wall_ms, 'proc' AS processor,
      lower(hex(MD5(concat(toString(number), '${node}')))) AS event_id, '{}' AS payload, ${arrival}`,
    );
  }
  await insert("groups", runs, groupColumns(numbered("default/s/run-"), numbered("run-"), "semantiva"));
  await insert("groups", 1, groupColumns("'default/l/sweep/1'", "'sweep'", "launch"));
}

function numbered(prefix: string): string {
  return `concat('${prefix}', toString(number))`;
}

function groupColumns(key: string, run: string, protocol: string): string {
  return `${key} AS group_key, 'default' AS workspace, '${protocol}' AS protocol, ${run} AS run_id, toInt64(1) AS version`;
}

function pointColumns(group: string, step: string): string {
  return `${group} AS group_key, 'train/loss' AS key, 'w0' AS worker, 'train' AS phase, toInt64(${step}) AS step,
    toInt64(${nowNs}) + (${step}) * 50000 AS ts_ns, if(number % 100003 = 5, nan, 4 / sqrt(1 + (${step})) + sin(number) / 100) AS value,
    'xtrack' AS source, toInt64(${step} + 2) AS seq, toInt32(-1) AS entry, ${arrival}`;
}

/** The names after AS, in order, at the top level of the list. */
function namesOf(columns: string): string {
  return Array.from(columns.matchAll(/ AS (\w+)(?=,|$)/g), (match) => `\`${match[1]}\``).join(", ");
}
