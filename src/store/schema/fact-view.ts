/** Fact views: table, filter of its rows, and the columns people see after `run_id` (an expression where it differs). */
export interface FactView {
  readonly table: string;
  readonly where?: string;
  readonly columns: readonly (string | readonly [name: string, sql: string])[];
}
