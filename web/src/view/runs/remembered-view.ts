// The view of the runs table that was last on screen, kept in this browser.

import { useEffect } from "react";
import { setPreference, usePreference } from "../../app/preference.ts";
import { formatSearch, parseSearch } from "../../app/search.ts";
import { parseRunsSearch, type RunsSearch } from "./runs-search.ts";

const lastView = "runs-view";

/** The last view; where a link leads back to the runs, it leads there. */
export function useLastRunsView(): RunsSearch {
  const [text] = usePreference<string>(lastView, "");
  return parseRunsSearch(parseSearch(text));
}

export function useRememberView(search: RunsSearch): void {
  const text = formatSearch({ ...search });
  useEffect(() => setPreference(lastView, text), [text]);
}
