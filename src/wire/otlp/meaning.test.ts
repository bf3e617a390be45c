import { expect, it } from "vitest";
import { runOf, senderOf, stepOf, toRoleOf } from "./meaning.ts";

const unnamed = { run: "", mlflowRun: "" };

it("cuts the name of a run that is longer than any name, and keeps two of them apart [OT-17]", () => {
  const long = "x".repeat(100_000);
  const [one, other] = [long, `${long}y`].map((id) => runOf({ "tributary.run.id": id }, unnamed));
  expect([one?.length, one === other]).toEqual([512 + 17, false]);
  expect(runOf({}, { run: "a".repeat(512), mlflowRun: "" })).toBe("a".repeat(512));
});

it("reads rank, worker and process from a resource, also where they are text [OT-22]", () => {
  expect(senderOf({ "nv.dl.rank": "7", "process.pid": 42 })).toEqual({ rank: 7, worker: "7", pid: 42n });
  expect(senderOf({ "service.instance.id": "a", "dl.rank": -1 })).toEqual({ rank: 0, worker: "a", pid: null });
  expect(senderOf({ rank: "first" })).toEqual({ rank: 0, worker: "", pid: null });
});

it("takes the first attribute that names a step and is a whole number [OT-21]", () => {
  const roleOf = toRoleOf(["my.step"]);
  expect(stepOf({ note: "x", step: "three", "my.step": 4 }, roleOf)).toBe(4n);
  expect(stepOf({ loss: 1 }, roleOf)).toBeNull();
});
