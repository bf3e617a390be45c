// A row of buttons of which one is pressed.

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
    <fieldset className="segments" style={{ margin: 0, padding: 0 }}>
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
