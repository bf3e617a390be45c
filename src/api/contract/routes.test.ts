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

test("schemas are plain JSON Schema: nothing in them is lost in a document", () => {
  for (const schema of [ErrorAnswer, ...names.map((name) => schemas[name])]) {
    expect(JSON.parse(JSON.stringify(schema))).toEqual(JSON.parse(JSON.stringify(structuredClone(schema))));
  }
});
