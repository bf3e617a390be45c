// Which panels there are and how they are grouped: by the prefix of the key, else by its phase.

import type { MetricInfo } from "#api/contract/series.ts";

export interface MetricPanel {
  readonly key: string;
  readonly phase: string;
  /** The name on the panel: the key without the group's prefix. */
  readonly label: string;
  readonly info: MetricInfo;
}

export interface MetricGroup {
  readonly name: string;
  readonly panels: MetricPanel[];
}

type Named = Pick<MetricInfo, "key" | "phase">;

/** How a URL names the panel of a metric. */
export function panelId({ key, phase }: Named): string {
  return phase === "" ? key : `${key}@${phase}`;
}

/** What it is called by itself. */
export function panelTitle({ key, phase }: Named): string {
  return phase === "" || key.startsWith(`${phase}/`) ? key : `${phase} · ${key}`;
}

const order = ["train", "val", "valid", "validation", "eval", "test", ""];

/** Every word must be found, as it stands or as a regular expression. */
export function matchText(search: string): (text: string) => boolean {
  const tests = search
    .split(/\s+/)
    .filter((word) => word !== "")
    .map((word) => {
      const plain = word.toLowerCase();
      const pattern = toPattern(word);
      return (text: string) => text.toLowerCase().includes(plain) || (pattern?.test(text) ?? false);
    });
  return (text) => tests.every((test) => test(text));
}

/** Null while a pattern is still being typed. */
function toPattern(word: string): RegExp | null {
  try {
    return new RegExp(word, "i");
  } catch {
    return null;
  }
}

export function groupMetrics(metrics: readonly MetricInfo[], search: string): MetricGroup[] {
  const matches = matchText(search);
  const groups = new Map<string, MetricPanel[]>();
  for (const info of metrics) {
    if (!matches(`${info.phase} ${info.key}`)) continue;
    const { name, label } = nameOf(info);
    const panels = groups.get(name) ?? [];
    panels.push({ key: info.key, phase: info.phase, label, info });
    groups.set(name, panels);
  }
  return [...groups]
    .map(([name, panels]) => ({ name, panels: panels.sort((a, b) => rank(a) - rank(b) || a.key.localeCompare(b.key)) }))
    .sort((a, b) => place(a.name) - place(b.name) || a.name.localeCompare(b.name));
}

function nameOf(info: MetricInfo): { name: string; label: string } {
  const slash = info.key.indexOf("/");
  if (slash > 0) return { name: info.key.slice(0, slash), label: info.key.slice(slash + 1) };
  return { name: info.phase, label: info.key };
}

/** Losses first: they are what people look at. */
function rank(panel: MetricPanel): number {
  if (/loss/.test(panel.key)) return 0;
  return /acc|score|reward|perplexity|f1/.test(panel.key) ? 1 : 2;
}

function place(group: string): number {
  if (group === "system") return 99;
  const at = order.indexOf(group);
  return at < 0 ? order.length - 1.5 : at;
}
