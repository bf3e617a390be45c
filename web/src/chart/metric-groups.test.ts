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

test("a word may be a regular expression, and one that is not finished is taken as it stands", () => {
  const found = (search: string) =>
    groupMetrics(metrics, search).flatMap((group) => group.panels.map((panel) => panel.key));
  expect(found("layer\\d.*norm")).toEqual(["layer1/norm"]);
  expect(found("loss|gpu$")).toEqual(["loss", "val_loss", "system/gpu"]);
  expect(found("loss(")).toEqual([]);
});
