// The view of the runs table that was last on screen, and those that a person gave a name, both kept in this browser.

import { useEffect } from "react";
import { setPreference, usePreference } from "../../app/preference.ts";
import { formatSearch, parseSearch } from "../../app/search.ts";
import { parseRunsSearch, type RunsSearch } from "./runs-search.ts";

const lastView = "runs-view";
const savedViews = "runs-views";

/** The last view; where a link leads back to the runs, it leads there. */
export function useLastRunsView(): RunsSearch {
  const [text] = usePreference<string>(lastView, "");
  return parseRunsSearch(parseSearch(text));
}

export function useRememberView(search: RunsSearch): void {
  const text = formatSearch({ ...search });
  useEffect(() => setPreference(lastView, text), [text]);
}

export interface SavedView {
  readonly name: string;
  /** The query of its address. */
  readonly search: string;
}

export function useSavedViews(): [readonly SavedView[], (views: readonly SavedView[]) => void] {
  const [text, setText] = usePreference<string>(savedViews, "[]");
  return [parseViews(text), (views) => setText(JSON.stringify(views))];
}

/** What is kept may have been written by another version, or by hand. */
export function parseViews(text: string): SavedView[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter(isView) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is SavedView {
  const view = value as Partial<SavedView> | null;
  return typeof view === "object" && typeof view?.name === "string" && typeof view.search === "string";
}
