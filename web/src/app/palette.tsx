// ⌘K: go to a run, a metric, a view, or do something.

import { Command } from "cmdk";
import { useLayoutEffect, useRef, useState } from "react";
import { Modal } from "../part/dialog.tsx";
import "./palette.css";
import { OfPage, OfRun, Runs, RunsMetrics, useOpenRun } from "./palette-groups.tsx";
import { scoreEntry } from "./palette-score.ts";

export function Palette({ onClose, onHelp }: { readonly onClose: () => void; readonly onHelp: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const run = useOpenRun();
  useLayoutEffect(() => input.current?.focus(), []);
  return (
    <Modal className="palette" aria-label="Command palette" onClose={onClose}>
      <Command label="Command palette" filter={scoreEntry}>
        <Command.Input
          ref={input}
          value={text}
          onValueChange={setText}
          placeholder="go to a run, a metric, a view, an action…"
        />
        <Command.List>
          <Command.Empty>Nothing matches.</Command.Empty>
          {run === null ? null : <OfRun id={run} text={text} onDone={onClose} />}
          <Runs text={text} onDone={onClose} />
          {run === null && text !== "" ? <RunsMetrics onDone={onClose} /> : null}
          <OfPage onDone={onClose} onHelp={onHelp} />
        </Command.List>
      </Command>
    </Modal>
  );
}
