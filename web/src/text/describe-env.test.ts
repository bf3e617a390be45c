import { expect, test } from "vitest";
import { describeEnv } from "./describe-env.ts";

test("names the GPUs and how many there are", () => {
  expect(describeEnv({ gpu_info: '[{"name":"NVIDIA H200"},{"name":"NVIDIA H200"}]' })).toBe("H200 ×2");
  expect(describeEnv({ gpu: "A100" })).toBe("A100 ×1");
});

test("falls back to the host, and says nothing of nothing", () => {
  expect(describeEnv({ gpu_info: "[]", hostname: "node-3" })).toBe("node-3");
  expect(describeEnv({ "host.name": "node-4" })).toBe("node-4");
  expect(describeEnv({})).toBe("");
});
