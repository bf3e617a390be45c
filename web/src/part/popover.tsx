import { Popover as Radix } from "radix-ui";
import { type ReactNode, useRef, useState } from "react";

interface PopoverProps {
  readonly trigger: ReactNode;
  readonly label: string;
  /** `done` closes it after a choice that ends the visit. */
  readonly children: ReactNode | ((done: () => void) => ReactNode);
  readonly className?: string;
}

export function Popover({ trigger, label, children, className = "" }: PopoverProps) {
  const [open, setOpen] = useState(false);
  const isDone = useRef(false);
  return (
    <Radix.Root
      open={open}
      onOpenChange={(next) => {
        isDone.current = false;
        setOpen(next);
      }}
    >
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          className={`popover ${className}`}
          sideOffset={4}
          align="end"
          collisionPadding={8}
          aria-label={label}
          onCloseAutoFocus={(event) => leaveFocus(event, isDone.current)}
        >
          {typeof children === "function"
            ? children(() => {
                isDone.current = true;
                setOpen(false);
              })
            : children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/**
 * The focus goes back to the button, unless it has gone elsewhere meanwhile: keys pressed there are meant for that. After
 * a choice the keys are meant for what was chosen.
 */
function leaveFocus(event: Event, isDone: boolean): void {
  const { activeElement, body } = document;
  const isElsewhere = activeElement !== null && activeElement !== body;
  if (isElsewhere || isDone) event.preventDefault();
  if (!isElsewhere && isDone) document.getElementById("main")?.focus();
}
