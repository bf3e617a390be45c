// A rule tried on the last runs: where it would have fired.

import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { useChange } from "../../data/use-api.ts";
import { Dialog } from "../../part/dialog.tsx";
import { Loading, Problem } from "../../part/notice.tsx";

const runsUsual = 50;

export function RuleTest({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const test = useChange("testRule", []);
  const { mutate } = test;
  useEffect(() => mutate({ body: { name, runs: runsUsual } }), [mutate, name]);
  const fired = test.data?.tried.filter((one) => one.fired) ?? [];
  return (
    <Dialog title={`${name} on the last runs`} onClose={onClose}>
      <Problem error={test.error} />
      {test.data === undefined ? (
        test.error === null && <Loading rows={3} label="Trying" />
      ) : (
        <>
          <p>
            It would have fired on {test.data.fired} of {test.data.tried.length} runs.
          </p>
          <ul>
            {fired.map((one) => (
              <li key={one.run} className="entry alert">
                <div className="grow">
                  <Link to="/runs/$id" params={{ id: one.run }}>
                    {one.name}
                  </Link>
                  <p>
                    <strong>{one.text}</strong>
                  </p>
                  <p className="muted">{one.evidence.join(" · ")}</p>
                </div>
              </li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}
