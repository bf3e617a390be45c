// A part of a page with its title.

import type { ComponentProps, ReactNode } from "react";
import { IconButton } from "./button.tsx";
import { Answer } from "./notice.tsx";
import { Table } from "./table.tsx";

interface PanelProps {
  readonly title: string;
  /** What it is called where the title does not say it alone. */
  readonly label?: string;
  /** At the end of the line of the title. */
  readonly side?: ReactNode;
  /** With room around what is in it; words of the style sheet for that. */
  readonly body?: string;
  readonly children: ReactNode;
}

export function Panel({ title, label = title, side, body, children }: PanelProps) {
  return (
    <section className="panel" aria-label={label}>
      <header className="row panel-head">
        <h2 className="clip">{title}</h2>
        {side === undefined ? null : <span className="grow" />}
        {side}
      </header>
      {body === undefined ? children : <div className={`panel-body ${body}`}>{children}</div>}
    </section>
  );
}

/** A panel whose content has to be asked for. */
export function AnswerPanel<T>({
  of,
  rows = 2,
  children,
  ...panel
}: Omit<PanelProps, "children"> & ComponentProps<typeof Answer<T>>) {
  return (
    <Panel {...panel}>
      <Answer of={of} rows={rows}>
        {children}
      </Answer>
    </Panel>
  );
}

/** A panel that is a table; nothing where that has no rows. */
export function TablePanel<Row>({
  title,
  label,
  ...table
}: Pick<PanelProps, "title" | "label"> & Omit<ComponentProps<typeof Table<Row>>, "label">) {
  if (table.rows.length === 0 && table.none === undefined) return null;
  return (
    <Panel title={title} label={label ?? title}>
      <Table {...table} />
    </Panel>
  );
}

interface DetailsProps {
  readonly label: string;
  readonly title: string;
  readonly hint?: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** More about what was chosen, beside it. */
export function Details({ label, title, hint, onClose, children }: DetailsProps) {
  return (
    <aside className="stack details" aria-label={label}>
      <header className="row">
        <h2 className="clip grow" title={hint}>
          {title}
        </h2>
        <IconButton icon="cross" label="Close" onClick={onClose} />
      </header>
      {children}
    </aside>
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
