// Goes along through the views: what to see here, and the way on.

import { Link } from "@tanstack/react-router";
import { Button, IconButton } from "../../part/button.tsx";
import "./tour.css";
import { useTourPlace, useTourSteps } from "./use-tour.ts";

export function TourBar() {
  const steps = useTourSteps();
  const [place, setPlace] = useTourPlace();
  const step = steps[place - 1];
  if (step === undefined) return null;
  return (
    <aside className="row tour-bar no-print" aria-label="Tour">
      <span className="tour-number">{place}</span>
      <p className="grow">
        <strong>{step.title}.</strong> {step.text}
      </p>
      <Go href={steps[place - 2]?.href ?? null} word="back" onGo={() => setPlace(place - 1)} />
      {place === steps.length ? (
        <Button look="primary" onClick={() => setPlace(0)}>
          done
        </Button>
      ) : (
        <Go href={steps[place]?.href ?? null} word="next" onGo={() => setPlace(place + 1)} primary />
      )}
      <IconButton icon="cross" label="Leave the tour" onClick={() => setPlace(0)} />
    </aside>
  );
}

interface GoProps {
  readonly href: string | null;
  readonly word: string;
  readonly onGo: () => void;
  readonly primary?: boolean;
}

function Go({ href, word, onGo, primary = false }: GoProps) {
  if (href === null) return null;
  return (
    <Link to={href} className={`button ${primary ? "primary" : ""}`} onClick={onGo}>
      {word}
    </Link>
  );
}
