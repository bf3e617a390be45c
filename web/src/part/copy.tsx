import { useState } from "react";
import { Icon } from "./icon.tsx";

export function CopyButton({ text, label }: { readonly text: string | (() => string); readonly label: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === "string" ? text : text());
    setDone(true);
    setTimeout(() => setDone(false), 1200);
  };
  return (
    <button type="button" className="button quiet small" onClick={() => void copy()} aria-label={label} title={label}>
      <Icon name={done ? "check" : "copy"} size={14} />
      <span className="hidden-text" aria-live="polite">
        {done ? "copied" : ""}
      </span>
    </button>
  );
}
