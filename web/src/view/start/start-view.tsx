// Getting started: copy a line, run it, and this page turns into the run when its first record arrives.

import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useApi } from "../../data/use-api.ts";
import { Button } from "../../part/button.tsx";
import { CommandLine } from "../../part/notice.tsx";
import { toRecipes } from "./recipes.ts";
import "./start.css";
import { call } from "../../data/client.ts";
import { useLiveStream } from "../../data/use-live.ts";

export function StartView() {
  const navigate = useNavigate();
  const session = useApi("session", {});
  const recipes = toRecipes(session.data, window.location.origin);
  const [chosen, setChosen] = useState("");
  const recipe = recipes.find((each) => each.name === chosen) ?? recipes[0];
  const watching = useFirstRecord((id) => void navigate({ to: "/runs/$id/charts", params: { id } }));
  return (
    <div className="scroll">
      <div className="page start stack">
        <h2>Send the first record</h2>
        <p>
          Choose what your job speaks, copy the line, run it. This page turns into the run when its first record
          arrives.
        </p>
        <nav className="row wrap" aria-label="Clients">
          {recipes.map((each) => (
            <Button key={each.name} aria-pressed={each === recipe} onClick={() => setChosen(each.name)}>
              {each.name}
            </Button>
          ))}
        </nav>
        <section className="panel panel-body stack" aria-label={recipe.name}>
          <p className="muted">{recipe.about}</p>
          {recipe.steps.map((step) => (
            <div key={step.line} className="stack" style={{ gap: 4 }}>
              <span>{step.says}</span>
              <CommandLine text={step.line} />
            </div>
          ))}
        </section>
        <p className="row muted waiting" role="status">
          <i /> {watching ? "waiting for the first record of a new run" : "looking at the runs that exist"}
        </p>
        <h2>Or look around first</h2>
        <p>The bundled sample: fourteen trainings on an H200, their spans and tensors, and one run that is live.</p>
        <CommandLine text={`${session.data?.command ?? "tributary"} demo --http 127.0.0.1:0 --xtrack 127.0.0.1:0`} />
      </div>
    </div>
  );
}

const askMs = 300;
const asksMax = 30;

/** Waits for a run that was not there at first, and calls `found` once it can be asked for. True as soon as it watches. */
function useFirstRecord(found: (run: string) => void): boolean {
  const stream = useLiveStream();
  const before = useApi("runs", { query: { limit: 1000, archived: "show" } });
  const latest = useRef(found);
  latest.current = found;
  const known = before.data;
  useEffect(() => {
    if (known === undefined) return;
    const ids = new Set(known.runs.map((run) => run.id));
    const stop = new AbortController();
    const unlisten = stream.listen((event) => {
      const run = event.name === "changed" ? event.data.run : event.name === "run" ? event.data.id : null;
      if (run === null || ids.has(run)) return;
      ids.add(run);
      // The event comes when the record is durable, a moment before it is queryable.
      void whenQueryable(run, stop.signal).then((there) => there && latest.current(run));
    });
    return () => {
      unlisten();
      stop.abort();
    };
  }, [stream, known]);
  return known !== undefined;
}

async function whenQueryable(run: string, signal: AbortSignal): Promise<boolean> {
  for (let asks = 0; asks < asksMax && !signal.aborted; asks++) {
    const { runs } = await call("runs", { query: { filter: `id:"${run}"`, limit: 1 } }, signal).catch(() => ({
      runs: [],
    }));
    if (runs.length > 0) return !signal.aborted;
    await new Promise((resolve) => setTimeout(resolve, askMs));
  }
  return false;
}
