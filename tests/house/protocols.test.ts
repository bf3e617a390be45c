import { expect, it } from "vitest";
import { groupKinds } from "#model/group-key.ts";
import { ingestPaths } from "#protocol/facts.ts";
import { inputKinds, protocols } from "#protocol/protocols.ts";
import { listFiles, readText } from "./files.ts";

const spoken = protocols.map(({ facts }) => facts.name).filter((name) => name !== "run");
// Where a protocol may be called by its name: its own folders and files in a room, the SDK, the recipes of the page, and
// the list of formats that runs are exported in, one of which is called so.
const ownPlace = new RegExp(`^src/(protocol|wire|emit)/|(^|[/-])(${spoken.join("|")})[/.-]|/(recipes|export)\\.ts$`);
/** Settings and tables that are called so. */
const otherWords = /cirron_(batches|components|ids)|xtrackAddress|xtrackUnixPath|otlp(Steps|Grpc|Http)\w*/g;

it("calls a protocol by its name only in its own folders", () => {
  const literal = new RegExp(`["'\`](${spoken.join("|")})([A-Z_]\\w*)?["'\`]`);
  const found = listFiles("src")
    .concat(listFiles("web/src"))
    .filter((path) => /\.tsx?$/.test(path) && !/\.(test|fixture)\./.test(path))
    .filter((path) => !ownPlace.test(path))
    .flatMap((path) =>
      readText(path)
        .split("\n")
        .flatMap((line, at) =>
          literal.test(line.replaceAll(otherWords, "")) ? [`${path}:${at + 1}: ${line.trim()}`] : [],
        ),
    );
  expect(found).toEqual([]);
});

it("has every protocol once, with names, doors and letters that are nobody else's", () => {
  const names = protocols.map(({ facts }) => facts.name);
  expect(new Set(names).size).toBe(names.length);
  const letters = Object.values(groupKinds);
  expect(new Set(letters).size).toBe(letters.length);
  const inputs = inputKinds.map(({ kind }) => kind);
  expect(new Set(inputs).size).toBe(inputs.length);
  const exported = protocols.flatMap((protocol) => protocol.exported.map(({ kind }) => kind));
  expect(new Set(exported).size).toBe(exported.length);
  // Of those that share a route, one takes what nobody else claims.
  const doors = Map.groupBy(
    protocols.flatMap((protocol) => protocol.doors),
    ({ route }) => route,
  );
  for (const [route, sharing] of doors) {
    expect(Object.keys(ingestPaths)).toContain(route);
    expect([route, sharing.filter(({ claims }) => claims === undefined).length]).toEqual([route, 1]);
  }
});
