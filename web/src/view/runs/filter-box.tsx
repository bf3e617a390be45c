// The filter: completion while typing, and an error that points at its character.

import { useEffect, useId, useRef, useState } from "react";
import type { FieldInfo } from "#api/contract/run.ts";
import { Refusal } from "../../data/client.ts";
import { Icon } from "../../part/icon.tsx";
import { placeCaret, Suggestions, Wrong } from "../../part/suggestions.tsx";
import { applySuggestion, type Completion, completeFilter } from "./complete.ts";

interface FilterBoxProps {
  readonly value: string;
  readonly fields: readonly FieldInfo[];
  readonly error: Error | null;
  readonly onChange: (filter: string) => void;
}

export function FilterBox({ value, fields, error, onChange }: FilterBoxProps) {
  const [text, setText] = useState(value);
  const [completion, setCompletion] = useState<Completion | null>(null);
  const [picked, setPicked] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  // A space typed last is not part of the filter, but of what is typed next.
  useEffect(() => setText((typed) => (typed.trim() === value ? typed : value)), [value]);
  // Typing settles before the table is asked; Enter asks at once.
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text.trim()), 350);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);

  const suggest = (next: string) => {
    const found = completeFilter(next, input.current?.selectionStart ?? next.length, fields);
    setCompletion(found.suggestions.length === 0 ? null : found);
    setPicked(-1);
  };
  const take = (taken: string) => {
    if (completion === null) return;
    const next = applySuggestion(text, completion, taken);
    setText(next.text);
    setCompletion(null);
    placeCaret(input.current, next.caret);
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const count = completion?.suggestions.length ?? 0;
    if (event.key === "ArrowDown" && count > 0) setPicked((picked + 1) % count);
    else if (event.key === "ArrowUp" && count > 0) setPicked((picked - 1 + count) % count);
    else if ((event.key === "Enter" || event.key === "Tab") && picked >= 0)
      take(completion?.suggestions[picked]?.text ?? "");
    else if (event.key === "Enter") {
      setCompletion(null);
      onChange(text.trim());
    } else if (event.key === "Escape") setCompletion(null);
    else return;
    if (event.key !== "Escape") event.preventDefault();
  };
  return (
    <div className="row filter grow">
      <Icon name="search" size={14} />
      <input
        ref={input}
        data-search
        className={`field mono ${error === null ? "" : "invalid"}`}
        role="combobox"
        aria-label="Filter runs"
        aria-expanded={completion !== null}
        aria-controls={completion === null ? undefined : list}
        aria-autocomplete="list"
        aria-invalid={error !== null}
        aria-activedescendant={picked >= 0 ? `${list}-${picked}` : undefined}
        placeholder="filter: status:running AND metrics.val_loss.last<2"
        value={text}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => {
          setText(event.target.value);
          suggest(event.target.value);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setTimeout(() => setCompletion(null), 120)}
      />
      <div className="column filter-below">
        {error instanceof Refusal ? <FilterError text={text} answer={error.answer} /> : null}
        {completion === null ? null : (
          <Suggestions
            id={list}
            look="filter-menu"
            suggestions={completion.suggestions}
            picked={picked}
            onTake={take}
          />
        )}
      </div>
    </div>
  );
}

/** What is wrong, with the character it is about. */
function FilterError({ text, answer }: { readonly text: string; readonly answer: Refusal["answer"] }) {
  return (
    <div className="notice bad wrap filter-error" role="alert">
      {answer.at?.offset === undefined ? null : <Wrong text={text} at={answer.at} />}
      <span>{answer.message}</span>
      <span className="muted">{answer.hint}</span>
    </div>
  );
}
