import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

interface RunLinkProps {
  readonly id: string;
  readonly view?: "charts" | "integrity" | "logs" | "params" | "pipeline" | "tensors" | "timeline";
  readonly search?: object;
  readonly look?: string;
  readonly title?: string;
  readonly children?: ReactNode;
}

/** To the first page of a run, or to one of its views. */
export function RunLink({ id, view, search, look, title, children = view ?? id }: RunLinkProps) {
  return (
    <Link
      to={view === undefined ? "/runs/$id" : `/runs/$id/${view}`}
      params={{ id }}
      search={search as never}
      className={look}
      title={title}
    >
      {children}
    </Link>
  );
}
