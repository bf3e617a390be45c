// A collector whose store remembers what it was asked.

import type { Collector } from "#server/collector/collector.ts";
import type { Query, Store } from "#store/store.ts";

export interface Counted {
  readonly collector: Collector;
  /** The statements, in their order. */
  readonly questions: string[];
  readonly removals: string[];
}

export function countQuestions(collector: Collector): Counted {
  const { store } = collector;
  const questions: string[] = [];
  const removals: string[] = [];
  const counted: Store = Object.assign(Object.create(store) as Store, {
    stream(query: Query, options: Parameters<Store["stream"]>[1]) {
      questions.push(query.sql);
      return store.stream(query, options);
    },
    ddl(sql: string) {
      removals.push(sql);
      return store.ddl(sql);
    },
  });
  return { collector: { ...collector, store: counted }, questions, removals };
}
