// What a row's group says about the row: its run, its workspace, whether a deletion hides it. The groups are one
// constant of the query, and a row finds its own by `transform`, where a join would probe a hash table for every row.
// The engine looks up each distinct key of a block once; a column that nobody asks for is not looked up at all; and
// while no deletion is under way there is no filter either, so that a count reads no rows.
//
// Rows are stored before their group is. For that moment they are shown with an empty run.

const fields = {
  run_id: "''",
  workspace: "''",
  session_id: "''",
  pipeline_id: "NULL",
  deployment_id: "NULL",
  model_id: "NULL",
} as const;

export type GroupField = keyof typeof fields;

export interface GroupLookup {
  /** The `WITH` clause that the other two need. */
  readonly with: string;
  /** A field of the group that the row `f` is of. */
  of(field: GroupField): string;
  /** Whether the row is one that no deletion covers. */
  readonly isShown: string;
}

/** `groups` is a SELECT of the groups that count, each of them once; `wanted` are the fields that will be used. */
export function groupLookup(groups: string, wanted: readonly GroupField[]): GroupLookup {
  const columns = ["group_key", "deleted_ns", ...wanted];
  const find = (column: string, otherwise: string): string =>
    `transform(f.group_key, known.1.1, known.1.${columns.indexOf(column) + 1}, ${otherwise})`;
  return {
    with: `WITH (SELECT (groupArray((${columns.join(", ")})), max(deleted_ns)) FROM (${groups})) AS known`,
    of: (field) => find(field, fields[field]),
    isShown: `(known.2 = 0 OR f.received_ns > ${find("deleted_ns", "0")})`,
  };
}
