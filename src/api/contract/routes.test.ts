import { expect, test } from "vitest";
import { ErrorAnswer } from "./error.ts";
import { paths, type RouteName } from "./paths.ts";
import { type RouteSchemas, schemas } from "./routes.ts";

const names = Object.keys(paths) as RouteName[];

test("every route has schemas and every schema has a route", () => {
  expect(Object.keys(schemas).sort()).toEqual([...names].sort());
});

test("no two routes share a method and a path", () => {
  const seen = names.map((name) => `${paths[name].method} ${paths[name].path}`);
  expect(new Set(seen).size).toBe(seen.length);
});

test("the parameters of a path are exactly those its schema describes", () => {
  for (const name of names) {
    const route: RouteSchemas = schemas[name];
    const inPath = [...paths[name].path.matchAll(/:(\w+)|\*/g)].map((m) => m[1] ?? "*");
    const described =
      route.params === undefined ? [] : Object.keys((route.params as { properties: object }).properties);
    expect([name, ...described.sort()]).toEqual([name, ...inPath.sort()]);
  }
});

test("every route answers with a schema or with bytes, never both", () => {
  for (const name of names) {
    const route: RouteSchemas = schemas[name];
    expect([name, (route.answer === undefined) !== (route.media === undefined)]).toEqual([name, true]);
  }
});

/** Where a value lies in a schema that a JSON document would lose or change. */
function findLost(value: unknown, place: string): string[] {
  if (value === null || typeof value === "string" || typeof value === "boolean") return [];
  if (typeof value === "number") return Number.isFinite(value) ? [] : [place];
  if (Array.isArray(value)) return value.flatMap((item, at) => findLost(item, `${place}[${at}]`));
  const isPlain = typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain || "toJSON" in value) return [place];
  return Object.entries(value).flatMap(([name, inner]) => findLost(inner, `${place}.${name}`));
}

test("schemas are plain JSON Schema: nothing in them is lost in a document", () => {
  expect(findLost(ErrorAnswer, "error")).toEqual([]);
  expect(names.flatMap((name) => findLost(schemas[name], name))).toEqual([]);
  // The search itself finds what it is there for.
  const lossy = { a: [{ pattern: /x/ }], b: undefined, c: Number.NaN, d: 1n, e: new Date(0), f: () => 1 };
  expect(findLost(lossy, "s")).toEqual(["s.a[0].pattern", "s.b", "s.c", "s.d", "s.e", "s.f"]);
});
