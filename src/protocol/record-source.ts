// Where the records of one kind are stored, so that everything a run received can be listed in one order.

/** The values are SQL expressions over the columns of the table; cells come in the order of `columns`. */
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
  /** If a record has several rows: the condition for the one that stands for it. */
  readonly first?: string;
  readonly columns: readonly string[];
  /** The columns that are searched for a text. */
  readonly search: readonly string[];
}
