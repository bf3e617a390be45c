// The message of a line: coloured as it was printed, with what was searched for marked, and cut when it is very long.

import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { LogRow } from "#api/contract/record.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { Button } from "../../part/button.tsx";
import { formatBytes } from "../../text/format-number.ts";
import { toPieces } from "./log-text.ts";
import { readWholeMessage } from "./whole-message.ts";

/** Nobody reads more of a line than fills the screen; the rest waits until it is asked for. */
export const messageChars = 2_000;

export function LogMessage({ row, search }: { readonly row: LogRow; readonly search: string }) {
  const [open, setOpen] = useState(false);
  const whole = useWholeMessage(row, open);
  const isCut = row.cut_from !== undefined || row.msg.length > messageChars;
  const text = open && whole.data !== undefined ? whole.data : row.msg.slice(0, messageChars);
  const pieces = useMemo(() => toPieces(text, search), [text, search]);
  return (
    <>
      {pieces.map((piece) =>
        piece.hit ? (
          <mark key={piece.at} className={piece.style}>
            {piece.text}
          </mark>
        ) : (
          <span key={piece.at} className={piece.style}>
            {piece.text}
          </span>
        ),
      )}
      {isCut ? (
        <Button look="small log-cut" onClick={() => setOpen(!open)} aria-expanded={open}>
          {open
            ? whole.error !== null
              ? "it did not come; try again"
              : whole.data === undefined
                ? "loading"
                : "show less"
            : `show all, ${formatBytes(row.cut_from ?? row.msg.length)}`}
        </Button>
      ) : null}
    </>
  );
}

/** The line as it was sent. */
function useWholeMessage(row: LogRow, wanted: boolean) {
  const { run } = useRunClock();
  return useQuery({
    queryKey: ["whole-line", run.id, row.id],
    enabled: wanted,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => readWholeMessage(run.id, row, signal),
  });
}
