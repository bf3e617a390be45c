import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** To the first page of a run. */
export function RunLink({
  id,
  look,
  children = id,
}: {
  readonly id: string;
  readonly look?: string;
  readonly children?: ReactNode;
}) {
  return (
    <Link to="/runs/$id" params={{ id }} className={look}>
      {children}
    </Link>
  );
}
