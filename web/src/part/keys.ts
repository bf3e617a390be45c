// Keys of the whole page, and whom they belong to.

import { useEffect, useRef } from "react";

/** Hears them wherever the focus is; the handler is always that of the latest render. */
export function useKeys(onKey: (event: KeyboardEvent) => void): void {
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    const hear = (event: KeyboardEvent) => latest.current(event);
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  }, []);
}

/** Keys of the page must not fire while a person writes. */
export function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !/^(checkbox|radio|range|button|submit)$/.test(target.type);
  return target instanceof HTMLElement && (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName));
}

/** A dialog or menu is open: keys belong to it. */
export function isBusy(): boolean {
  return document.querySelector("dialog[open], [data-radix-popper-content-wrapper]") !== null;
}
