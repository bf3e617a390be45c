// The parts of a comparison, each asked for when a tab needs it, joined as they come.

import { createContext, useContext, useMemo, useRef } from "react";
import type { CompareAnswer, ComparePart } from "#api/contract/compare.ts";
import { useTheme } from "../../app/theme.ts";
import { useApi } from "../../data/use-api.ts";
import { useFreshWithRuns } from "../../data/use-live.ts";
import { formatNumber } from "../../text/format-number.ts";
import { type CompareSearch, toPartQuestion } from "./compare-search.ts";
import { type ParallelAxis, toAxes } from "./parallel.ts";
import { type Colours, coloursByAxis, coloursOfRuns, groupsByAxis, keepPlaces, type RunGroup } from "./run-colours.ts";

const freshMs = 5_000;

const extraParts: Readonly<Record<string, ComparePart>> = {
  charts: "divergence",
  params: "divergence",
  time: "spans",
  tensors: "tensors",
};

/** `drawn` says that the first picture is there; what that does not need waits for it. */
export function useComparison(
  { tab = "charts", colour, group }: CompareSearch,
  ids: readonly string[],
  drawn: boolean,
) {
  // The more there is to ask for, the longer changes are gathered.
  useFreshWithRuns(["compare", "series"], freshMs * Math.ceil(ids.length / 10), ids);
  const asked = ids.length > 0;
  const isFree = tab !== "charts" || drawn;
  const metrics = usePart(ids, "metrics", asked);
  const params = usePart(ids, "params", asked && (isFree || colour !== undefined || group !== undefined));
  const extra = extraParts[tab];
  const other = usePart(ids, extra ?? "tensors", asked && extra !== undefined && isFree && metrics.data !== undefined);
  const data = useMemo(
    () => (metrics.data === undefined ? undefined : join(metrics.data, [params.data, other.data])),
    [metrics.data, params.data, other.data],
  );
  return { first: metrics, params, other: extra === undefined ? null : other, data };
}

function usePart(ids: readonly string[], part: ComparePart, enabled: boolean) {
  return useApi("compare", toPartQuestion(ids, part), { enabled, keep: true, staleMs: 15_000 });
}

/** Values belong to runs by their places, so a part of other runs has to wait until it is asked again. */
function join(first: CompareAnswer, parts: readonly (CompareAnswer | undefined)[]): CompareAnswer {
  const idsOf = (answer: CompareAnswer) => answer.runs.map(({ id }) => id).join("\n");
  const mine = idsOf(first);
  let joined = first;
  for (const part of parts) {
    if (part === undefined || idsOf(part) !== mine) continue;
    const { params, env, source, divergence, spans, tensors } = part;
    joined = {
      ...joined,
      params: [...joined.params, ...params],
      env: [...joined.env, ...env],
      source: [...joined.source, ...source],
      divergence: [...joined.divergence, ...divergence],
      spans: [...joined.spans, ...spans],
      tensors: [...joined.tensors, ...tensors],
    };
  }
  return joined;
}

export interface Look {
  readonly axes: readonly ParallelAxis[];
  readonly colours: Colours;
  /** What the colours mean; null when each run has its own. */
  readonly colourAxis: ParallelAxis | null;
  readonly groups: readonly RunGroup[] | null;
}

/** Of a run, or of a group that is drawn as one line. */
export function colourOf(name: string, look: Look): string | undefined {
  return look.groups?.find(({ text }) => text === name)?.colour ?? look.colours.get(name);
}

/** The comparison on screen, for everything below. */
export interface OpenComparison {
  readonly compare: CompareAnswer;
  readonly look: Look;
  readonly search: CompareSearch;
  /** The only run to draw; null draws all that are not hidden. */
  readonly alone: string | null;
  setAlone(id: string | null): void;
  /** Called when the first picture is drawn, or when there is none to wait for. */
  onDrawn(): void;
}

export const CompareContext = createContext<OpenComparison | null>(null);

export function useCompare(): OpenComparison {
  const open = useContext(CompareContext);
  if (open === null) throw new Error("no CompareContext above");
  return open;
}

/** Colours and groups of the runs, as the address wants them. */
export function useLook(compare: CompareAnswer | undefined, search: CompareSearch): Look {
  const theme = useTheme();
  const places = useRef<ReadonlyMap<string, number>>(new Map());
  return useMemo(() => {
    const ids = compare?.runs.map(({ id }) => id) ?? [];
    places.current = keepPlaces(places.current, search.run ?? ids);
    const axes = compare === undefined ? [] : toAxes(compare, (value) => formatNumber(value, 3));
    const axisOf = (name: string | undefined) => axes.find((axis) => axis.name === name) ?? null;
    const grouped = axisOf(search.group);
    const groups = grouped === null ? null : groupsByAxis(grouped, ids, theme);
    const colourAxis = groups === null ? axisOf(search.colour) : grouped;
    const colours =
      groups !== null
        ? new Map(groups.flatMap((group) => group.ids.map((id) => [id, group.colour] as const)))
        : colourAxis === null
          ? coloursOfRuns(places.current, theme)
          : coloursByAxis(colourAxis, ids, theme);
    return { axes, colours, colourAxis, groups };
  }, [compare, search.run, search.group, search.colour, theme]);
}
