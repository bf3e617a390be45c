// The views that the side bar and the palette lead to.

import type { IconName } from "../part/icon.tsx";

export interface Place {
  readonly to: string;
  readonly title: string;
  readonly icon: IconName;
  /** Where there is less room. */
  readonly short?: string;
}

export const places: readonly Place[] = [
  { to: "/runs", title: "Runs", icon: "runs" },
  { to: "/launches", title: "Launches", icon: "launches", short: "Launch" },
  { to: "/compare", title: "Compare", icon: "compare" },
  { to: "/sql", title: "SQL", icon: "sql" },
  { to: "/rules", title: "Rules", icon: "flag" },
  { to: "/health", title: "Health", icon: "health" },
  { to: "/start", title: "Getting started", icon: "start", short: "Start" },
  { to: "/settings", title: "Settings", icon: "settings" },
];
