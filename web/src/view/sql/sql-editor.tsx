// The query box: a plain text area with completion. Ctrl or ⌘ with Enter runs it.

import { useId, useRef, useState } from "react";
import type { SqlSchemaAnswer } from "#api/contract/sql.ts";
import { placeCaret, Suggestions } from "../../part/suggestions.tsx";
import { completeSql } from "./sql-complete.ts";

const nothing: ReturnType<typeof completeSql> = { from: 0, suggestions: [] };

interface SqlEditorProps {
  readonly value: string;
  readonly schema: SqlSchemaAnswer | undefined;
  readonly invalid: boolean;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

export function SqlEditor({ value, schema, invalid, onChange, onRun }: SqlEditorProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  // Where something was typed last; null once that is done with. What is suggested there changes when the schema comes.
  const [caret, setCaret] = useState<number | null>(null);
  const found = caret === null ? nothing : completeSql(value, caret, schema);
  const [picked, setPicked] = useState(0);
  const list = useId();
  const open = found.suggestions.length > 0;
  const take = (text: string) => {
    const end = area.current?.selectionStart ?? value.length;
    onChange(value.slice(0, found.from) + text + value.slice(end));
    setCaret(null);
    placeCaret(area.current, found.from + text.length);
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const count = found.suggestions.length;
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
      setCaret(null);
      onRun();
    } else if (open && event.key === "ArrowDown") setPicked((picked + 1) % count);
    else if (open && event.key === "ArrowUp") setPicked((picked - 1 + count) % count);
    else if (open && event.key === "Tab") take(found.suggestions[picked]?.text ?? "");
    else if (open && event.key === "Escape") setCaret(null);
    else return;
    event.preventDefault();
  };
  return (
    <div className="sql-editor">
      <textarea
        ref={area}
        data-search
        className={`field mono ${invalid ? "invalid" : ""}`}
        aria-label="SQL query"
        aria-controls={open ? list : undefined}
        aria-invalid={invalid}
        rows={Math.min(16, Math.max(5, value.split("\n").length + 1))}
        spellCheck={false}
        value={value}
        onChange={(event) => {
          onChange(event.target.value);
          setCaret(event.target.selectionStart);
          setPicked(0);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setTimeout(() => setCaret(null), 120)}
      />
      {open ? (
        <Suggestions id={list} look="sql-menu" suggestions={found.suggestions} picked={picked} onTake={take} />
      ) : null}
    </div>
  );
}
