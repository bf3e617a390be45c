// A button that acts; one that sends a form says so with its type.

import { type ComponentProps, useState } from "react";
import { Icon, type IconName } from "./icon.tsx";

interface ButtonProps extends Omit<ComponentProps<"button">, "className"> {
  /** Words of the style sheet: small, quiet, primary, danger. */
  readonly look?: string;
  /** Before the text. */
  readonly icon?: IconName;
}

export function Button({ look = "", icon, children, ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest} className={`button ${look}`}>
      {icon === undefined ? null : <Icon name={icon} size={14} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ButtonProps, "icon" | "children" | "aria-label"> {
  readonly icon: IconName;
  /** What it does; also its title, unless there is more to say. */
  readonly label: string;
}

/** An icon alone. */
export function IconButton({ look = "quiet small", label, title = label, ...rest }: IconButtonProps) {
  return <Button {...rest} look={`icon ${look}`} aria-label={label} title={title} />;
}

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
