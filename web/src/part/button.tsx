// A button that acts; one that sends a form says so with its type.

import type { ComponentProps } from "react";
import { Icon, type IconName } from "./icon.tsx";

export function Button({
  look = "",
  icon,
  iconPx = 14,
  children,
  ...rest
}: Omit<ComponentProps<"button">, "className"> & {
  /** Words of the style sheet: small, quiet, icon, primary, danger. */
  readonly look?: string;
  /** Before the text; alone it needs a label. */
  readonly icon?: IconName;
  readonly iconPx?: number;
}) {
  return (
    <button type="button" {...rest} className={`button ${look}`}>
      {icon === undefined ? null : <Icon name={icon} size={iconPx} />}
      {children}
    </button>
  );
}
