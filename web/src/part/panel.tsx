// A part of a page with its title.

import type { ReactNode } from "react";

interface PanelProps {
  readonly title: string;
  /** What it is called where the title does not say it alone. */
  readonly label?: string;
  /** At the end of the line of the title. */
  readonly side?: ReactNode;
  readonly look?: string;
  /** With room around what is in it; words of the style sheet for that. */
  readonly body?: string;
  readonly children: ReactNode;
}

export function Panel({ title, label = title, side, look = "", body, children }: PanelProps) {
  return (
    <section className={`panel ${look}`} aria-label={label}>
      <header className="row panel-head">
        <h2>{title}</h2>
        {side === undefined ? null : <span className="grow" />}
        {side}
      </header>
      {body === undefined ? children : <div className={`panel-body ${body}`}>{children}</div>}
    </section>
  );
}

/** Panels below each other, which scroll as one. */
export function Page({ children, maxWidth }: { readonly children: ReactNode; readonly maxWidth?: number | "none" }) {
  return (
    <div className="scroll">
      <div className="page stack" style={{ maxWidth }}>
        {children}
      </div>
    </div>
  );
}
