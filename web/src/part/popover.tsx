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
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
