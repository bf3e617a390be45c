import { Popover as Radix } from "radix-ui";
import type { ReactNode } from "react";

export function Popover({
  trigger,
  label,
  children,
  className = "",
}: {
  readonly trigger: ReactNode;
  readonly label: string;
  readonly children: ReactNode;
  readonly className?: string;
}) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          className={`popover ${className}`}
          sideOffset={4}
          align="end"
          collisionPadding={8}
          aria-label={label}
          onCloseAutoFocus={leaveFocus}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** The focus goes back to the button, unless it has gone elsewhere meanwhile: keys pressed there are meant for that. */
function leaveFocus(event: Event): void {
  if (document.activeElement !== null && document.activeElement !== document.body) event.preventDefault();
}
