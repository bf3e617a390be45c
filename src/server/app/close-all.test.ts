import { expect, it } from "vitest";
import { closeAll } from "./close-all.ts";

it("closes every part in its turn, although one fails, and then says why it failed", async () => {
  const closed: string[] = [];
  const bus = async () => {
    closed.push("bus");
    throw new Error("the bus is gone");
  };
  const collector = async () => void closed.push("collector");
  await expect(closeAll([bus, collector])).rejects.toThrow("the bus is gone");
  expect(closed).toEqual(["bus", "collector"]);
});
