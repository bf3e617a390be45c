// Stores that remember what they were asked.

import type { Collector } from "#server/collector/collector.ts";
import type { Query, Store } from "#store/store.ts";

interface Asked {
  /** The statements, in their order. */
  readonly questions: string[];
  readonly removals: string[];
}

export function countStore(store: Store): Asked & { readonly store: Store } {
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
  return { store: counted, questions, removals };
}

export function countQuestions(collector: Collector): Asked & { readonly collector: Collector } {
  const { store, ...asked } = countStore(collector.store);
  return { collector: { ...collector, store }, ...asked };
}
