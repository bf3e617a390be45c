// The edge between two parts of a view, to be moved by hand or by arrow keys. The height is remembered.

import { usePreference } from "../app/preference.ts";
import { follow } from "./follow.ts";

const stepPx = 24;

/** The height that was chosen, or null for the usual one. */
export function useSplit(name: string): [number | null, (px: number) => void] {
  const [text, setText] = usePreference<string>(name, "");
  const px = Number(text);
  return [text === "" || !Number.isFinite(px) ? null : px, (next) => setText(String(Math.max(80, Math.round(next))))];
}

/** Stands right below the part whose height it changes. */
export function Splitter({ label, onChange }: { readonly label: string; readonly onChange: (px: number) => void }) {
  const heightOf = (edge: Element) => edge.previousElementSibling?.getBoundingClientRect().height ?? 0;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved.
    <div
      className="splitter no-print"
      role="separator"
      aria-orientation="horizontal"
      aria-label={label}
      aria-valuenow={0}
      tabIndex={0}
      onPointerDown={(event) => {
        const height = heightOf(event.currentTarget);
        follow(event, ({ clientY }) => onChange(height + clientY - event.clientY));
      }}
      onKeyDown={(event) => {
        const way = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
        if (way !== 0) onChange(heightOf(event.currentTarget) + way * stepPx);
      }}
    />
  );
}
