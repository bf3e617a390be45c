// How far the table was scrolled, for each page in the browser's history: Back from a run leads to the row it was opened
// from. A link to the table, or another question, is read from its top.

import { useRouterState } from "@tanstack/react-router";
import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

/** By the key of the page in the history. */
const places = new Map<string, number>();

/** `question` is '' as long as there is no answer. Returns what to call when the table was scrolled. */
export function useKeptPlace(scroller: RefObject<HTMLElement | null>, question: string): () => void {
  const page = useRouterState({ select: ({ location }) => location.state.__TSR_key ?? "" });
  const asked = useRef("");
  const keep = () => void places.set(page, scroller.current?.scrollTop ?? 0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another question moves the table.
  useLayoutEffect(() => {
    if (scroller.current === null || question === "" || question === asked.current) return;
    scroller.current.scrollTop = asked.current === "" ? (places.get(page) ?? 0) : 0;
    asked.current = question;
  }, [question]);
  // A page that only replaces another, as for a column more, goes on where that one was.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the place is kept whenever it changes.
  useEffect(() => {
    if (asked.current !== "") keep();
  }, [page]);
  return keep;
}
