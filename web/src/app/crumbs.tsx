// Where we are, and the way back. The last part is the page's heading.

import { Link, useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";
import { useApi } from "../data/use-api.ts";
import { Name } from "../part/name.tsx";
import { useLastRunsView } from "../view/runs/remembered-view.ts";
import { places } from "./places.ts";

export function Crumbs() {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const [view = "runs", id] = path.split("/").filter(Boolean).map(decodeURIComponent);
  const tour = view === "tour" ? "A tour of the sample" : "Tributary";
  const title = places.find(({ to }) => to === `/${view}`)?.title ?? tour;
  const lastRuns = useLastRunsView();
  if (id === undefined) return <Heading text={title} />;
  return (
    <nav className="row crumbs" aria-label="Breadcrumb">
      {view === "launches" ? (
        <Link to="/launches">{title}</Link>
      ) : (
        <Link to="/runs" search={lastRuns}>
          {title}
        </Link>
      )}
      <span className="muted">/</span>
      {view === "runs" ? <RunHeading id={id} /> : <Heading text={id} />}
    </nav>
  );
}

function RunHeading({ id }: { readonly id: string }) {
  const run = useApi("run", { params: { id } });
  return <Heading text={run.data?.name ?? id} />;
}

function Heading({ text }: { readonly text: string }) {
  useEffect(() => {
    document.title = `${text} · Tributary`;
  }, [text]);
  return (
    <h1 className="clip" title={text} aria-label={text}>
      <Name>{text}</Name>
    </h1>
  );
}
