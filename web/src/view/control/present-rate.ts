// The learning rate that a job trains with now: the last it reported, else what it was started with.

import type { MetricInfo } from "#api/contract/series.ts";

const rateName = /(^|[./_@-])(lr|learning_rate|learningrate)$/i;

export function presentRate(
  metrics: readonly Pick<MetricInfo, "key" | "last" | "last_ns">[],
  params: Readonly<Record<string, string>>,
): number | null {
  const reported = metrics
    .filter((metric) => rateName.test(metric.key) && typeof metric.last === "number")
    .sort((a, b) => Number(BigInt(b.last_ns) - BigInt(a.last_ns)))[0];
  if (typeof reported?.last === "number") return reported.last;
  for (const [name, json] of Object.entries(params)) {
    const value = Number(json);
    if (rateName.test(name) && json.trim() !== "" && Number.isFinite(value)) return value;
  }
  return null;
}
