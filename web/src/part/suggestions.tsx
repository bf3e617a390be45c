// What may stand where somebody is typing, in a list below the field.

export interface Suggestion {
  readonly text: string;
  readonly note: string;
}

interface SuggestionsProps {
  /** The options are called after it: `<id>-0`, … */
  readonly id: string;
  readonly look: string;
  readonly suggestions: readonly Suggestion[];
  /** The place of the one that the keyboard is on. */
  readonly picked: number;
  readonly onTake: (text: string) => void;
}

export function Suggestions({ id, look, suggestions, picked, onTake }: SuggestionsProps) {
  return (
    <div className={`menu ${look}`} id={id} role="listbox" aria-label="Suggestions">
      {suggestions.map(({ text, note }, i) => (
        <div
          key={text}
          id={`${id}-${i}`}
          role="option"
          tabIndex={-1}
          className="menu-item"
          aria-selected={i === picked}
          onPointerDown={(event) => {
            event.preventDefault();
            onTake(text);
          }}
        >
          <code className="grow clip">{text}</code>
          <span className="muted clip">{note}</span>
        </div>
      ))}
    </div>
  );
}

interface WrongProps {
  readonly text: string;
  /** Where what is wrong begins, and how long it is. */
  readonly at: { readonly offset?: number | undefined; readonly length?: number | undefined };
}

/** The part of a text that a refusal is about, with what stands around it. */
export function Wrong({ text, at: { offset = 0, length = 1 } }: WrongProps) {
  const from = Math.max(0, offset - 24);
  const word = /^\w*/.exec(text.slice(offset))?.[0].length ?? 0;
  const to = offset + Math.max(1, length, word);
  return (
    <code>
      {from > 0 ? "…" : ""}
      {text.slice(from, offset)}
      <mark className="wrong">{text.slice(offset, to) || "␣"}</mark>
      {text.slice(to, to + 24)}
    </code>
  );
}

/** Gives the field the focus once it has its new text, with the caret there. */
export function placeCaret(field: HTMLInputElement | HTMLTextAreaElement | null, caret: number): void {
  requestAnimationFrame(() => {
    field?.focus();
    field?.setSelectionRange(caret, caret);
  });
}
