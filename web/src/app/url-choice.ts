// Choices that change the picture: they stand in the address, so that a link shows the same, and are remembered for
// where the address says nothing.

import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { usePreference } from "./preference.ts";
import { asText } from "./search.ts";

type SearchPart = Record<string, string | readonly string[] | undefined>;

/** Changes parts of the address' query: in place, or as a step that Back undoes. */
export function useSetSearch(): (part: SearchPart, how?: "in place" | "as a step") => void {
  const navigate = useNavigate();
  return useCallback(
    (part, how = "in place") =>
      void navigate({
        to: ".",
        search: (before: Record<string, unknown>) => ({ ...before, ...part }),
        replace: how === "in place",
      } as never),
    [navigate],
  );
}

/** One choice: `name` in the address, `remembered` in this browser. */
export function useUrlChoice<T extends string>(
  name: string,
  remembered: string,
  fallback: T,
  allowed?: readonly T[],
): [T, (value: T) => void] {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const [preferred, setPreferred] = usePreference<T>(remembered, fallback, allowed);
  const setSearch = useSetSearch();
  const said = asText(search[name]) as T | undefined;
  const value = said !== undefined && (allowed === undefined || allowed.includes(said)) ? said : preferred;
  const set = useCallback(
    (next: T) => {
      setPreferred(next);
      setSearch({ [name]: next });
    },
    [setPreferred, setSearch, name],
  );
  return [value, set];
}
