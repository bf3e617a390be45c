// People's SQL as the routes see it.

export interface SqlAnswerStream {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** One JSON array a line. */
  readonly rows: AsyncIterable<Uint8Array>;
}

export interface SqlMistake {
  readonly message: string;
  readonly offset: number | null;
}

export interface SqlPort {
  /** Rows of one answer. */
  readonly rowsMax: number;
  answer(sql: string, signal: AbortSignal): Promise<SqlAnswerStream | SqlMistake>;
  file(sql: string, format: "csv" | "parquet", signal: AbortSignal): AsyncIterable<Uint8Array> | SqlMistake;
  schema(): Promise<{
    tables: { name: string; means: string; columns: { name: string; type: string }[] }[];
    functions: string[];
  }>;
}
