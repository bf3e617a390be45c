// A menu of actions. Not modal: a modal one would inject a style element, which the content policy forbids.

import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";
import { Icon, type IconName } from "./icon.tsx";

export interface MenuEntry {
  readonly label: string;
  readonly icon?: IconName;
  readonly act: () => void;
  readonly danger?: boolean;
}

export function Menu({ trigger, entries }: { readonly trigger: ReactNode; readonly entries: readonly MenuEntry[] }) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" sideOffset={4} align="end" collisionPadding={8}>
          {entries.map((entry) => (
            <DropdownMenu.Item
              key={entry.label}
              className={`menu-item ${entry.danger === true ? "status-failed" : ""}`}
              onSelect={entry.act}
            >
              {entry.icon === undefined ? null : <Icon name={entry.icon} size={14} />}
              {entry.label}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
