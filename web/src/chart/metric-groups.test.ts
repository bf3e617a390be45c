import { expect, test } from "vitest";
import type { MetricInfo } from "#api/contract/series.ts";
import { groupMetrics } from "./metric-groups.ts";

function metric(key: string, phase = ""): MetricInfo {
  return { key, phase } as MetricInfo;
}

const metrics = [
  metric("system/gpu"),
  metric("grad_norm", "train"),
  metric("loss", "train"),
  metric("val_loss", "val"),
  metric("val/acc"),
  metric("other"),
  metric("layer1/norm"),
];

test("groups by prefix, else by phase, training first and the system last", () => {
  expect(groupMetrics(metrics, "").map((group) => [group.name, group.panels.map((panel) => panel.label)])).toEqual([
    ["train", ["loss", "grad_norm"]],
    ["val", ["val_loss", "acc"]],
    ["layer1", ["norm"]],
    ["", ["other"]],
    ["system", ["gpu"]],
  ]);
});

test("search words must all be found, in key or phase", () => {
  expect(groupMetrics(metrics, "val loss").flatMap((group) => group.panels.map((panel) => panel.key))).toEqual([
    "val_loss",
  ]);
});
