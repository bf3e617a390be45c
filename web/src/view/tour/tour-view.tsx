// The first page of the demo: what is in it, and six steps through it.

import { Link } from "@tanstack/react-router";
import { Refusal } from "../../data/client.ts";
import { useApi } from "../../data/use-api.ts";
import { Icon } from "../../part/icon.tsx";
import { CommandLine, Empty } from "../../part/notice.tsx";
import "./tour.css";
import { profiledRun, type TourStep } from "./tour-steps.ts";
import { useTourPlace, useTourSteps } from "./use-tour.ts";

export function TourView() {
  const sample = useApi("run", { params: { id: profiledRun } }, { staleMs: 60_000 });
  const steps = useTourSteps();
  const [, setPlace] = useTourPlace();
  if (sample.error instanceof Refusal && sample.error.status === 404) return <NoSample />;
  return (
    <div className="scroll">
      <div className="page tour">
        <h2>From a dip in a curve to its cause, in six steps</h2>
        <p className="muted">
          This server holds a sweep of fourteen trainings on an H200, one of them recorded by two clients in two
          formats, a sweep of pipelines, and one small training that runs now.
        </p>
        <ol className="tour-steps">
          {steps.map((step, i) => (
            <Step key={step.title} step={step} place={i + 1} onGo={() => setPlace(i + 1)} />
          ))}
        </ol>
        <p className="muted">
          Then look around: <Link to="/runs">all runs</Link>, the <Link to="/launches">launch of eight pipelines</Link>,
          or <Link to="/start">how to send your own</Link>.
        </p>
      </div>
    </div>
  );
}

function Step({ step, place, onGo }: { readonly step: TourStep; readonly place: number; readonly onGo: () => void }) {
  return (
    <li className="panel row tour-step">
      <span className="tour-number">{place}</span>
      <div className="grow">
        <h3>{step.title}</h3>
        <p className="muted">{step.text}</p>
      </div>
      {step.href === null ? null : (
        <Link to={step.href} className={`button ${place === 1 ? "primary" : ""}`} onClick={onGo}>
          {place === 1 ? "begin" : "go there"}
          <Icon name="right" size={14} />
        </Link>
      )}
    </li>
  );
}

function NoSample() {
  const session = useApi("session", {}, { staleMs: 60_000 });
  return (
    <Empty title="This server does not have the sample.">
      <p>The tour needs the runs of the demo, which starts its own server.</p>
      <CommandLine text={`${session.data?.command ?? "tributary"} demo --http 127.0.0.1:0 --xtrack 127.0.0.1:0`} />
    </Empty>
  );
}
