// ⌘K: go to a run, a metric, a view, or do something.

import { Command } from "cmdk";
import { useLayoutEffect, useRef, useState } from "react";
import "./palette.css";
import { OfPage, OfRun, Runs, RunsMetrics, useOpenRun } from "./palette-groups.tsx";
import { scoreEntry } from "./palette-score.ts";

export function Palette({ onClose, onHelp }: { readonly onClose: () => void; readonly onHelp: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const run = useOpenRun();
  // Closed before it is taken off the page: only a dialog that closes gives the focus back to where it was.
  useLayoutEffect(() => {
    const box = dialog.current;
    box?.showModal();
    box?.querySelector("input")?.focus();
    return () => box?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click only serves the backdrop; the platform closes it on Esc.
    <dialog
      ref={dialog}
      className="dialog palette"
      aria-label="Command palette"
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <Command label="Command palette" filter={scoreEntry}>
        <Command.Input value={text} onValueChange={setText} placeholder="go to a run, a metric, a view, an action…" />
        <Command.List>
          <Command.Empty>Nothing matches.</Command.Empty>
          {run === null ? null : <OfRun id={run} text={text} onDone={onClose} />}
          <Runs text={text} onDone={onClose} />
          {run === null && text !== "" ? <RunsMetrics onDone={onClose} /> : null}
          <OfPage onDone={onClose} onHelp={onHelp} />
        </Command.List>
      </Command>
    </dialog>
  );
}
