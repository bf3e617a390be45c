// What is known of one thing, as lines of a list of facts: a name and a value each.

import type { ReactNode } from "react";
import { CopyButton } from "./button.tsx";

/** Shows nothing without a value. */
export function Fact({ name, value }: { readonly name: string; readonly value: ReactNode }) {
  if (value === null) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

/** A list of facts alone. */
export function Facts({ rows }: { readonly rows: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {rows.map(([name, value]) => (
        <Fact key={name} name={name} value={value} />
      ))}
    </dl>
  );
}

/** An id, to be copied. */
export function IdFact({ id }: { readonly id: string }) {
  return (
    <>
      <dt>id</dt>
      <dd className="row">
        <code className="clip">{id}</code>
        <CopyButton text={id} label="copy the id" />
      </dd>
    </>
  );
}
