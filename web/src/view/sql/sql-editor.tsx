// The query box: a plain text area with completion. Ctrl or ⌘ with Enter runs it.

import { useId, useRef, useState } from "react";
import type { SqlSchemaAnswer } from "#api/contract/sql.ts";
import { completeSql, type SqlSuggestion } from "./sql-complete.ts";

export function SqlEditor({
  value,
  schema,
  invalid,
  onChange,
  onRun,
}: {
  readonly value: string;
  readonly schema: SqlSchemaAnswer | undefined;
  readonly invalid: boolean;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const [found, setFound] = useState<{ from: number; suggestions: SqlSuggestion[] }>({ from: 0, suggestions: [] });
  const [picked, setPicked] = useState(0);
  const list = useId();
  const open = found.suggestions.length > 0;
  const take = (text: string) => {
    const caret = area.current?.selectionStart ?? value.length;
    onChange(value.slice(0, found.from) + text + value.slice(caret));
    setFound({ from: 0, suggestions: [] });
    const at = found.from + text.length;
    requestAnimationFrame(() => {
      area.current?.focus();
      area.current?.setSelectionRange(at, at);
    });
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const count = found.suggestions.length;
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
      setFound({ from: 0, suggestions: [] });
      onRun();
    } else if (open && event.key === "ArrowDown") setPicked((picked + 1) % count);
    else if (open && event.key === "ArrowUp") setPicked((picked - 1 + count) % count);
    else if (open && event.key === "Tab") take(found.suggestions[picked]?.text ?? "");
    else if (open && event.key === "Escape") setFound({ from: 0, suggestions: [] });
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
          setFound(completeSql(event.target.value, event.target.selectionStart, schema));
          setPicked(0);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setTimeout(() => setFound({ from: 0, suggestions: [] }), 120)}
      />
      {open ? (
        <div className="menu sql-menu" id={list} role="listbox" aria-label="Suggestions">
          {found.suggestions.map((each, i) => (
            <div
              key={each.text}
              role="option"
              tabIndex={-1}
              aria-selected={i === picked}
              className="menu-item"
              onPointerDown={(event) => {
                event.preventDefault();
                take(each.text);
              }}
            >
              <code>{each.text}</code>
              <span className="muted clip">{each.note}</span>
            </div>
          ))}
        </div>
      ) : null}
    </div>
  );
}
