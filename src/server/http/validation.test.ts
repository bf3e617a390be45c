import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { paths, type RouteName } from "#api/contract/paths.ts";
import { type RouteSchemas, schemas } from "#api/contract/routes.ts";

const parts = ["params", "query", "body"] as const;

test("every schema of a request is one, though servers compile it only when it is needed", () => {
  const ajv = new Ajv2020({ strict: false });
  const broken = (Object.keys(paths) as RouteName[]).flatMap((name) =>
    parts.flatMap((part) => {
      const schema = (schemas[name] as RouteSchemas)[part];
      if (schema === undefined || ajv.validateSchema(schema) === true) return [];
      return [`${name} ${part}: ${ajv.errorsText()}`];
    }),
  );
  expect(broken).toEqual([]);
  expect(ajv.validateSchema({ type: "strin" })).toBe(false);
});
