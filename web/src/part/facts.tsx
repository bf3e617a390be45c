// What is known of one thing, as lines of a list of facts: a name and a value each.

import type { ReactNode } from "react";
import { CopyButton } from "./copy.tsx";

/** Nothing where there is no value. */
export function Fact({ name, value }: { readonly name: string; readonly value: ReactNode }) {
  if (value === null) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

/** A value that people take elsewhere. */
export function CopiedFact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd className="row">
        <code className="clip">{value}</code>
        <CopyButton text={value} label={`copy the ${name}`} />
      </dd>
    </>
  );
}
