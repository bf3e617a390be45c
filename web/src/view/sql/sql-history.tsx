// The queries that were asked last, in this browser.

import { usePreference } from "../../app/preference.ts";

const kept = 20;

export function useSqlHistory(): [readonly string[], (query: string) => void] {
  const [text, setText] = usePreference<string>("sql-history", "[]");
  const queries = parseQueries(text);
  return [
    queries,
    (query) => setText(JSON.stringify([query, ...queries.filter((one) => one !== query)].slice(0, kept))),
  ];
}

function parseQueries(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
  } catch {
    return [];
  }
}

interface QueryListProps {
  readonly title: string;
  readonly queries: readonly (readonly [name: string, query: string])[];
  readonly onPick: (query: string) => void;
}

export function QueryList({ title, queries, onPick }: QueryListProps) {
  if (queries.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {queries.map(([name, query]) => (
          <li key={query}>
            <button type="button" className="menu-item" title={query} onClick={() => onPick(query)}>
              <span className="clip">{name}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
