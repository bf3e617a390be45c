// Applied changes of small tables that the store may not have yet. A reader of such a table asks here first and then
// the store, so that a start need not wait until the store has the rest of the journal.

import type { StateChange, StateRow, StateTable } from "#model/state-tables.ts";

const tables = ["blobs", "commands", "firings", "joins", "keys", "settings"] as const satisfies readonly StateTable[];
type UnstoredTable = (typeof tables)[number];
const watched: ReadonlySet<StateTable> = new Set(tables);

interface Unstored<T extends UnstoredTable> {
  readonly position: number;
  readonly row: StateRow<T>;
}

interface Noted {
  readonly position: number;
  readonly applied: { readonly state: readonly StateChange[] };
}

export class UnstoredState {
  private changes: { readonly position: number; readonly change: StateChange }[] = [];

  note({ position, applied }: Noted): void {
    for (const change of applied.state) if (watched.has(change.table)) this.changes.push({ position, change });
  }

  stored(to: number): void {
    const [first] = this.changes;
    if (first !== undefined && first.position <= to)
      this.changes = this.changes.filter(({ position }) => position > to);
  }

  of<T extends UnstoredTable>(table: T): Unstored<T>[] {
    return this.changes.flatMap(({ position, change }) =>
      change.table === table ? [{ position, row: change.row as StateRow<T> }] : [],
    );
  }
}
