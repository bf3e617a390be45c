// Light, dark, or as the system says. The page element carries the outcome; canvases ask for it here.

import { useEffect, useSyncExternalStore } from "react";
import type { Theme } from "../chart/colour.ts";
import { createListeners } from "../part/listeners.ts";
import { usePreference } from "./preference.ts";

export const themeChoices = ["system", "light", "dark"] as const;
export type ThemeChoice = (typeof themeChoices)[number];

/**
 * What the browser says of a query. It is asked only once: a Chromium that is asked between a change and its event takes
 * the change for told, and those who did not ask never hear of it.
 */
function followMedia(text: string) {
  const query = window.matchMedia(text);
  let isMet = query.matches;
  const { subscribe, tell } = createListeners();
  query.addEventListener("change", ({ matches }) => {
    isMet = matches;
    tell();
  });
  return { subscribe, isMet: () => isMet };
}

const system = followMedia("(prefers-color-scheme: dark)");
const paper = followMedia("print");

export function useThemeChoice() {
  return usePreference<ThemeChoice>("theme", "system", themeChoices);
}

/** Paper is white: what is printed is light whatever the page is. */
export function useTheme(): Theme {
  const [choice] = useThemeChoice();
  const dark = useSyncExternalStore(system.subscribe, system.isMet);
  const printed = useSyncExternalStore(paper.subscribe, paper.isMet);
  if (printed) return "light";
  return choice === "system" ? (dark ? "dark" : "light") : choice;
}

/** The theme that is not shown, and how to turn to it. */
export function useOtherTheme(): [Theme, () => void] {
  const [, setChoice] = useThemeChoice();
  const other = useTheme() === "dark" ? "light" : "dark";
  return [other, () => setChoice(other)];
}

/** Keeps the page element in step; used once, by the frame. */
export function useApplyTheme(): void {
  const theme = useTheme();
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
  }, [theme]);
}

const inkNames = ["paper", "panel", "ink", "muted", "line", "grid", "accent", "failed"] as const;
export type Inks = Readonly<Record<(typeof inkNames)[number], string>>;
const known = new Map<Theme, Inks>();

/** The tokens of the style sheet as canvases need them: read once, because that is slow. */
export function inksOf(theme: Theme): Inks {
  const inks = known.get(theme) ?? readInks(theme);
  known.set(theme, inks);
  return inks;
}

function readInks(theme: Theme): Inks {
  const probe = document.createElement("i");
  probe.dataset["theme"] = theme;
  document.body.append(probe);
  const style = getComputedStyle(probe);
  const found = inkNames.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]);
  probe.remove();
  return Object.fromEntries(found) as Inks;
}
