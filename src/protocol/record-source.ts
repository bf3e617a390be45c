// Where the records of one kind are stored, so that everything a run received can be listed in one order.

/** SQL expressions over the columns of its table; cells come in the order of `columns`. */
export interface RecordSource {
  readonly table: string;
  readonly where?: string;
  readonly protocol: string;
  readonly type: string;
  readonly worker: string;
  readonly seq: string;
  readonly ts: string;
  /** Place among the rows of one record. */
  readonly entry?: string;
  /** Which row stands for a record that has several, where one always does. */
  readonly first?: string;
  readonly columns: readonly string[];
  /** Where a text is looked for. */
  readonly search: readonly string[];
}
