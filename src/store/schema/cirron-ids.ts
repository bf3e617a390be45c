// The ids of Cirron rows that the store already has, for the table that finds them.

import { idSalts } from "#model/id-salts.ts";

/** In small blocks on one thread, so that any number of rows moves within the engine's memory. */
const smallBlocks =
  "SETTINGS max_threads = 1, max_block_size = 65536, min_insert_block_size_rows = 262144, min_insert_block_size_bytes = 0";

/**
 * The statements that fill `cirron_ids` from these rows. A key that several rows name is inserted as often, until it is
 * merged. Keys are made as `storedKey` in intake/cirron/row-ids.ts does it, with the hour in which a row begins.
 */
export function fillCirronIds(database: string, only: string): string[] {
  const key = (id: string, salt: number): string => {
    const hex = `if(match(${id}, '^[0-9a-f]{32}$'), ${id}, lower(hex(SHA256(concat('id', char(0), ${id})))))`;
    const half = (at: number): string => `reinterpretAsUInt64(reverse(unhex(substring(${hex}, ${at}, 16))))`;
    const folded = `bitAnd(bitXor(${half(1)}, ${half(17)}), toUInt64(9223372036854775807))`;
    return `toInt64(bitXor(${folded}, toUInt64(${salt})))`;
  };
  const from = (table: string, id: string, time: string, salt: number, where: string): string =>
    `INSERT INTO ${database}.cirron_ids (group_key, id_key, hour)
SELECT group_key, ${key(id, salt)}, toInt32(floor(toFloat64(${time}) / 3600000000000)) FROM ${database}.${table}
WHERE ${where} AND (${only}) ${smallBlocks}`;
  const isSpan = "span_id != 'root'";
  return [
    from("spans", "span_id", "start_ns", idSalts.span, "1"),
    from("spans", "assumeNotNull(parent_id)", "start_ns", idSalts.span, "parent_id IS NOT NULL"),
    from("marks", "mark_id", "ts_ns", idSalts.mark, "1"),
    from("marks", "span_id", "ts_ns", idSalts.span, isSpan),
    from("snapshots", "snapshot_id", "ts_ns", idSalts.snapshot, "1"),
    from("snapshots", "span_id", "ts_ns", idSalts.span, isSpan),
  ];
}
