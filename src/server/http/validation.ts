// Checks params, query and body against the contract's schemas, and says in the one error shape what is wrong.
// Text of a query is turned into the number or list its schema asks for; a JSON body is taken as it is.

import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import { Refusal } from "#api/refusal.ts";

// The schemas are our own, and a test compiles every one of them.
const common = { allErrors: false, strict: false, removeAdditional: false, validateSchema: false } as const;
const strictAjv = new Ajv2020(common);
const textAjv = new Ajv2020({ ...common, coerceTypes: "array" });

/** Compiled on first use: most routes of most servers are never used, and all of them would slow every start. */
export const compileSchema: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  let compiled: ValidateFunction | undefined;
  const part = httpPart === "querystring" ? "query" : httpPart === "params" ? "path" : (httpPart ?? "body");
  return (value: unknown) => {
    compiled ??= (httpPart === "body" ? strictAjv : textAjv).compile(schema);
    const validate = compiled;
    if (validate(value)) return { value };
    return { error: toRefusal(part, validate.errors?.[0]) };
  };
};

function toRefusal(part: string, error: ErrorObject | undefined): Refusal {
  const name = toName(error);
  const what = name === "" ? `The ${part}` : `${part} ${name}`;
  return new Refusal("request_invalid", `${what} ${toRule(error)}.`, {
    hint: "The reference at /reference says what each route takes.",
    at: { part, ...(name === "" ? {} : { name }) },
  });
}

/** The parameter's name, or the JSON pointer of a nested one. */
function toName(error: ErrorObject | undefined): string {
  const extra = (error?.params as { additionalProperty?: string; missingProperty?: string } | undefined) ?? {};
  const inner = extra.additionalProperty ?? extra.missingProperty;
  const path = error?.instancePath ?? "";
  const pointer = inner === undefined ? path : `${path}/${inner}`;
  return pointer.lastIndexOf("/") === 0 ? pointer.slice(1) : pointer;
}

function toRule(error: ErrorObject | undefined): string {
  const params = (error?.params ?? {}) as { allowedValues?: unknown[] };
  switch (error?.keyword) {
    case "required":
      return "is missing";
    case "additionalProperties":
      return "is not known here";
    case "enum":
      return `must be one of ${params.allowedValues?.map((word) => String(word)).join(", ")}`;
    default:
      return error?.message ?? "is not allowed";
  }
}
