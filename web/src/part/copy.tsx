import { useState } from "react";
import { Button } from "./button.tsx";

export function CopyButton({ text, label }: { readonly text: string | (() => string); readonly label: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === "string" ? text : text());
    setDone(true);
    setTimeout(() => setDone(false), 1200);
  };
  return (
    <Button
      look="quiet small"
      icon={done ? "check" : "copy"}
      onClick={() => void copy()}
      aria-label={label}
      title={label}
    >
      {" "}
      <span className="hidden-text" aria-live="polite">
        {done ? "copied" : ""}
      </span>
    </Button>
  );
}
