// A rule tried on the last runs: where it would have fired.

import { useEffect } from "react";
import { useChange } from "../../data/use-api.ts";
import { Dialog } from "../../part/dialog.tsx";
import { Entry } from "../../part/entry.tsx";
import { Loading, Problem } from "../../part/notice.tsx";
import { RunLink } from "../../part/run-link.tsx";

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
              <Entry
                key={one.run}
                code={name}
                title={
                  <>
                    <RunLink id={one.run}>{one.name}</RunLink> <strong>{one.text}</strong>
                  </>
                }
                evidence={one.evidence}
              />
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}
