// Something that was found: what it is, what shows it, and what follows from it.

import type { ReactNode } from "react";
import { Icon, type IconName } from "./icon.tsx";

interface EntryProps {
  /** What found it. */
  readonly code: string;
  readonly icon?: IconName;
  /** A word of the style sheet, for the icon. */
  readonly tone?: string;
  readonly title: ReactNode;
  readonly evidence: readonly string[];
  /** More lines. */
  readonly children?: ReactNode;
  readonly side?: ReactNode;
}

export function Entry({ code, icon, tone, title, evidence, children, side }: EntryProps) {
  return (
    <li className="entry" data-code={code}>
      {icon === undefined ? null : (
        <span className={tone}>
          <Icon name={icon} size={14} />
        </span>
      )}
      <div className="grow">
        <p>{title}</p>
        <p className="muted">{evidence.join(" · ")}</p>
        {children}
      </div>
      {side}
    </li>
  );
}
