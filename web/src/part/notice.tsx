// Empty, loading and error states. An error says what happened, what is safe, and what to do.

import type { ComponentProps, ReactNode } from "react";
import { Refusal, Unreachable } from "../data/client.ts";
import { Button, CopyButton } from "./button.tsx";
import { Icon } from "./icon.tsx";

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

export function CommandLine({ text }: { readonly text: string }) {
  return (
    <div className="row command-line">
      <code>{text}</code>
      <CopyButton text={text} label="copy" />
    </div>
  );
}

/** Grey blocks that appear only when an answer takes longer than a blink. */
export function Loading({ rows = 6, label = "Loading" }: { readonly rows?: number; readonly label?: string }) {
  return (
    <output className="stack" aria-label={label} style={{ padding: 16 }}>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the blocks have no identity.
        <span key={row} className="skeleton" style={{ height: 16, width: `${90 - ((row * 17) % 40)}%` }} />
      ))}
    </output>
  );
}

/** What went wrong, where something did. */
export function Problem({ error, retry }: { readonly error: Error | null; readonly retry?: () => void }) {
  if (error === null) return null;
  const refused = error instanceof Refusal ? error.answer : null;
  const hint =
    error instanceof Unreachable
      ? "Nothing is lost: clients keep or spool their data. This page retries by itself; check that the server is running."
      : (refused?.hint ?? "");
  return (
    <div className="notice bad" role="alert">
      <Icon name="warning" />
      <div className="grow">
        <p>{error.message}</p>
        {hint === "" ? null : <p className="muted">{hint}</p>}
        {refused === null ? null : <code className="muted">{refused.code}</code>}
      </div>
      {retry === undefined ? null : (
        <Button look="small" onClick={retry}>
          ask again
        </Button>
      )}
    </div>
  );
}

/** Instead of a whole view. */
export function PageProblem(props: ComponentProps<typeof Problem>) {
  return (
    <div style={{ padding: 16 }}>
      <Problem {...props} />
    </div>
  );
}

interface AnswerState<T> {
  readonly data: T | undefined;
  readonly error: Error | null;
  /** Why the last try failed, while there are more. */
  readonly failureReason?: Error | null;
  readonly refetch: () => unknown;
}

/** The three states of an answer: on its way, refused, here. */
export function Answer<T>({
  of,
  children,
  rows = 6,
}: {
  readonly of: AnswerState<T>;
  readonly children: (data: T) => ReactNode;
  readonly rows?: number;
}) {
  if (of.data !== undefined) return children(of.data);
  const error = of.error ?? of.failureReason ?? null;
  if (error !== null) return <PageProblem error={error} retry={() => void of.refetch()} />;
  return <Loading rows={rows} />;
}
