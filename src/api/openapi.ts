// The contract as an OpenAPI 3.1 document. TypeBox schemas are JSON Schema, so they go in as they are.

import type { TSchema } from "typebox";
import { given } from "#base/given.ts";
import { version } from "#base/version.ts";
import { ErrorAnswer } from "./contract/error.ts";
import { paths, type RouteName, type RoutePath } from "./contract/paths.ts";
import { type RouteSchemas, schemas } from "./contract/routes.ts";

const errorReference = { $ref: "#/components/schemas/Error" };

export function toOpenApi() {
  const operations: Record<string, Record<string, unknown>> = {};
  for (const name of Object.keys(paths) as RouteName[]) {
    const path = toTemplate(paths[name].path);
    const operation = toOperation(name, paths[name], schemas[name]);
    operations[path] = { ...operations[path], [paths[name].method.toLowerCase()]: operation };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Tributary",
      version,
      description: "One backend for machine-learning traces: Cirron, Semantiva, XTrack and OpenTelemetry.",
    },
    paths: operations,
    components: {
      schemas: { Error: ErrorAnswer },
      securitySchemes: {
        key: { type: "http", scheme: "bearer" },
        login: { type: "apiKey", in: "cookie", name: "tributary_login" },
      },
    },
  };
}

/** `/runs/:id/blobs/*` as OpenAPI writes it: `/runs/{id}/blobs/{rest}`. */
export function toTemplate(path: string): string {
  return path.replace(/:(\w+)/g, "{$1}").replace("*", "{rest}");
}

function toOperation(name: RouteName, { scope, summary }: RoutePath, route: RouteSchemas): object {
  const status = String(route.status ?? 200);
  return {
    operationId: name,
    summary,
    tags: [scope],
    security: scope === "open" ? [] : [{ key: [] }, { login: [] }],
    parameters: [...toParameters(route.params, "path"), ...toParameters(route.query, "query")],
    ...toBody(route),
    responses: {
      [status]: { description: "Success", content: toContent(route.answer, route.media) },
      "4XX": { description: "Refused", content: { "application/json": { schema: errorReference } } },
      "5XX": { description: "Failed", content: { "application/json": { schema: errorReference } } },
    },
  };
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, TSchema & { description?: string }>>;
  readonly required?: readonly string[];
}

function toParameters(schema: TSchema | undefined, where: "path" | "query"): object[] {
  const { properties = {}, required = [] } = (schema ?? {}) as ObjectSchema;
  return Object.entries(properties).map(([name, property]) => ({
    name: name === "*" ? "rest" : name,
    in: where,
    required: where === "path" || required.includes(name),
    ...given({ description: property.description }),
    schema: property,
  }));
}

function toBody({ body, bodyMedia }: RouteSchemas): object {
  if (body) return { requestBody: { required: true, content: { "application/json": { schema: body } } } };
  return bodyMedia ? { requestBody: { required: true, content: toContent(undefined, bodyMedia) } } : {};
}

function toContent(answer: TSchema | undefined, media: readonly string[] | undefined): object {
  if (answer) return { "application/json": { schema: answer } };
  return Object.fromEntries((media ?? []).map((type) => [type, { schema: { type: "string", format: "binary" } }]));
}
