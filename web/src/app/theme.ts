// Light, dark, or as the system says. The page element carries the outcome; canvases ask for it here.

import { useEffect, useSyncExternalStore } from "react";
import type { Theme } from "../chart/colour.ts";
import { usePreference } from "./preference.ts";

export const themeChoices = ["system", "light", "dark"] as const;
export type ThemeChoice = (typeof themeChoices)[number];

const system = window.matchMedia("(prefers-color-scheme: dark)");
const paper = window.matchMedia("print");

function subscribe(changed: () => void): () => void {
  for (const query of [system, paper]) query.addEventListener("change", changed);
  return () => {
    for (const query of [system, paper]) query.removeEventListener("change", changed);
  };
}

export function useThemeChoice() {
  return usePreference<ThemeChoice>("theme", "system", themeChoices);
}

/** Paper is white: what is printed is light whatever the page is. */
export function useTheme(): Theme {
  const [choice] = useThemeChoice();
  const dark = useSyncExternalStore(subscribe, () => system.matches);
  const printed = useSyncExternalStore(subscribe, () => paper.matches);
  if (printed) return "light";
  return choice === "system" ? (dark ? "dark" : "light") : choice;
}

/** Keeps the page element in step; used once, by the frame. */
export function useApplyTheme(): void {
  const theme = useTheme();
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
  }, [theme]);
}

export interface Inks {
  readonly paper: string;
  readonly panel: string;
  readonly ink: string;
  readonly muted: string;
  readonly line: string;
  readonly grid: string;
  readonly accent: string;
  readonly failed: string;
  readonly amber: string;
}

/** The tokens as canvases need them. They repeat style/tokens.css, because a canvas cannot read a custom property fast. */
export const inks: Record<Theme, Inks> = {
  light: {
    paper: "#ffffff",
    panel: "#fafafa",
    ink: "#1b1f24",
    muted: "#5d6673",
    line: "#e5e7eb",
    grid: "#eceff2",
    accent: "#2f6feb",
    failed: "#c4271b",
    amber: "#8f5800",
  },
  dark: {
    paper: "#0d1117",
    panel: "#151b23",
    ink: "#e6edf3",
    muted: "#9aa4af",
    line: "#262c36",
    grid: "#1d242e",
    accent: "#4c8dff",
    failed: "#ff7b72",
    amber: "#e3b341",
  },
};
