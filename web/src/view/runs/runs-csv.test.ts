import { expect, test } from "vitest";
import type { RunSummary } from "#api/contract/run.ts";
import { toRunsCsv } from "./runs-csv.ts";

const run = {
  id: "a",
  name: '=HYPERLINK("x"), yes',
  status: "completed",
  experiment: "",
  tags: ["one", "two"],
  start_ns: "1794710577346193000",
  end_ns: null,
  duration_ns: null,
  cells: { "params.lr": { text: "-0.5", num: -0.5 } },
} as unknown as RunSummary;

test("writes the columns shown, exact times, and no formulas", () => {
  expect(toRunsCsv([run], ["status", "params.lr", "metrics.loss.last", "spark"]).split("\n")).toEqual([
    "id,name,status,experiment,tags,start_ns,end_ns,duration_ns,params.lr,metrics.loss.last",
    `a,"'=HYPERLINK(""x""), yes",completed,,one two,1794710577346193000,,,-0.5,`,
    "",
  ]);
});
