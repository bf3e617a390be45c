// Fields to write in and to choose from. Both report their value, not the event.

import type { ComponentProps } from "react";

type Own = "value" | "onChange" | "className";

export function TextField({
  label,
  placeholder = label === undefined ? undefined : label.charAt(0).toLowerCase() + label.slice(1),
  look = "",
  onChange,
  ...rest
}: Omit<ComponentProps<"input">, Own> & {
  /** Its name, unless a label stands around it. */
  readonly label?: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  /** Words of the style sheet: grow, mono, num, invalid. */
  readonly look?: string;
}) {
  return (
    <input
      {...rest}
      className={`field ${look}`}
      aria-label={label}
      placeholder={placeholder}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** Fields that are sent together. */
export function Form({
  onSubmit,
  ...rest
}: Omit<ComponentProps<"form">, "onSubmit"> & { readonly onSubmit: (given: FormData) => void }) {
  return (
    <form
      {...rest}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(new FormData(event.currentTarget));
      }}
    />
  );
}

export function Select<T extends string>({
  label,
  caption,
  options,
  onChange,
  ...rest
}: Omit<ComponentProps<"select">, Own> & {
  readonly label?: string;
  /** Its name, shown before it. */
  readonly caption?: string;
  readonly value: T;
  /** What is chosen, and what it is called. */
  readonly options: readonly (readonly [value: T, text: string])[];
  readonly onChange: (value: T) => void;
}) {
  const select = (
    <select {...rest} className="select" aria-label={label} onChange={(event) => onChange(event.target.value as T)}>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
  if (caption === undefined) return select;
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control stands in it.
    <label className="row">
      <span className="muted">{caption}</span>
      {select}
    </label>
  );
}

/** A row of buttons of which one is pressed. */
export function Choice<T extends string>({
  label,
  options,
  value,
  onChange,
}: {
  readonly label: string;
  readonly options: readonly (T | readonly [T, string])[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}) {
  return (
    <fieldset className="segments">
      <legend className="hidden-text">{label}</legend>
      {options.map((option) => {
        const [word, text] = typeof option === "string" ? [option, option] : option;
        return (
          <button key={word} type="button" aria-pressed={word === value} onClick={() => onChange(word)}>
            {text}
          </button>
        );
      })}
    </fieldset>
  );
}
