// Which schema judges which record. Registry and schemas are data: a new record type is one schema file and one
// registry entry, ours or the user's.
//
// Judging is flat and compositional. First the header, which is the same for every type; then the schema that the
// registry names for the record's `record_type`. A type that the registry does not know has passed when its header
// has: it is kept, not refused.

import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { atPointer } from "#base/json/pointer.ts";
import { type JsonObject, type JsonValue, NumberText } from "#base/json/value.ts";
import { atOnce } from "#base/turns.ts";
import type { Rule } from "./free-leaves.ts";

/** `run_id_at`: where lines of a type without `run_id` in their header have it. */
export type RegistryEntry = string | { readonly schema: string; readonly run_id_at?: string };

/** One folder of schema files and the registry that names them. */
export interface SchemaSet {
  readonly registry: { readonly header?: string; readonly records: Readonly<Record<string, RegistryEntry>> };
  /** By file name. */
  readonly schemas: Readonly<Record<string, object>>;
}

/**
 * `document`: exactly what the document says, with the header on every line and times in the documented form.
 * `driver`: also what the real driver writes, SER lines that have their `run_id` in `identity`.
 */
export type Strictness = "driver" | "document";

export interface Violation {
  /** JSON pointer of the value that breaks the rule; of its parent when the value is missing. */
  readonly pointer: string;
  /** The schema keyword, such as `required` or `minimum`. */
  readonly rule: string;
  readonly message: string;
}

export type Judgement =
  | { readonly ok: true; readonly known: boolean; readonly runId: string; readonly hasHeader: boolean }
  | { readonly ok: false; readonly stage: "header" | "record"; readonly violations: readonly Violation[] };

export interface Registry {
  readonly types: readonly string[];
  /**
   * With `all`, every broken rule is named, up to `violationsMax`; otherwise the first. `isPlain` says that the record has no
   * integers that a double cannot hold, which saves looking for them.
   */
  judge(record: JsonObject, strictness: Strictness, all?: boolean, isPlain?: boolean): Judgement;
  /** The rules for records of a known type. */
  rulesOf(type: string): TypeRules;
}

export interface TypeRules {
  readonly header: Rule;
  readonly record: Rule;
  /** JSON pointer of the run id. */
  readonly runIdAt: string;
}

export const violationsMax = 20;

/** A registry or schema that cannot be used; thrown when it is loaded, never while judging. */
export class RegistryError extends Error {
  readonly kind = "registry";
}

const documentTime = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)\.\d{3}Z$/;

/** Later sets add to earlier ones; an entry or file of the same name replaces the earlier. */
export function createRegistry(...sets: readonly SchemaSet[]): Registry {
  return atOnce(createRegistryInSteps(...sets));
}

/** The same, one schema per step. */
export function* createRegistryInSteps(...sets: readonly SchemaSet[]): Generator<void, Registry> {
  const entries = new Map<string, { readonly schema: string; readonly runIdAt: string }>();
  const schemas = new Map<string, object>();
  let header: string | undefined;
  for (const { registry, schemas: files } of sets) {
    for (const [name, schema] of Object.entries(files)) schemas.set(name, schema);
    header = registry.header ?? header;
    for (const [type, entry] of Object.entries(registry.records)) {
      const { schema, run_id_at = "" } = typeof entry === "string" ? { schema: entry } : entry;
      entries.set(type, { schema, runIdAt: run_id_at });
    }
  }
  if (header === undefined) throw new RegistryError("no registry names a header schema");
  const headerName = header;
  const judges = {
    driver: compile(schemas, { timesToTheLetter: false, all: false }),
    document: compile(schemas, { timesToTheLetter: true, all: false }),
  };
  const thorough = {
    driver: compile(schemas, { timesToTheLetter: false, all: true }),
    document: compile(schemas, { timesToTheLetter: true, all: true }),
  };
  // Compiling now reports a broken schema when it is loaded instead of at the first line of its type.
  judges.driver(headerName);
  for (const { schema } of entries.values()) {
    yield;
    judges.driver(schema);
  }

  const ruleOf = (name: string): Rule => {
    const file = schemas.get(name) as JsonObject;
    return { schema: file, file };
  };
  return {
    types: [...entries.keys()],
    rulesOf(type) {
      const { schema, runIdAt } = entries.get(type) as { schema: string; runIdAt: string };
      return { header: ruleOf(headerName), record: ruleOf(schema), runIdAt: runIdAt === "" ? "/run_id" : runIdAt };
    },
    judge(record, strictness, all = false, isPlain = false) {
      const schemaOf = (all ? thorough : judges)[strictness];
      const plain = isPlain ? record : (toPlain(record) as JsonObject);
      const { record_type: type } = record;
      const entry = typeof type === "string" ? entries.get(type) : undefined;
      const hasHeader = Object.hasOwn(plain, "run_id");
      // If the type has its own place for the run id, that one counts, as in the format's own aggregator.
      const own = entry === undefined || entry.runIdAt === "" ? undefined : atPointer(plain, entry.runIdAt);
      const runId = typeof own === "string" ? own : plain["run_id"];
      const borrows = !hasHeader && strictness === "driver" && own !== undefined;
      const head = borrows ? { ...plain, run_id: own } : plain;
      const headerJudge = schemaOf(headerName);
      const elsewhere = strictness === "driver" && !hasHeader ? (entry?.runIdAt ?? "") : "";
      if (!headerJudge(head)) return refuse("header", headerJudge, elsewhere);
      if (entry === undefined) return { ok: true, known: false, runId: runId as string, hasHeader };
      const recordJudge = schemaOf(entry.schema);
      if (!recordJudge(plain)) return refuse("record", recordJudge, "");
      return { ok: true, known: true, runId: runId as string, hasHeader };
    },
  };
}

type JudgeOf = (schema: string) => ValidateFunction;

function compile(schemas: ReadonlyMap<string, object>, options: { timesToTheLetter: boolean; all: boolean }): JudgeOf {
  let ajv: Ajv2020 | undefined;
  const compiled = new Map<string, ValidateFunction>();
  return (name) => {
    let judge = compiled.get(name);
    if (judge === undefined) {
      ajv ??= createAjv(schemas, options);
      judge = compileOne(ajv, name);
      compiled.set(name, judge);
    }
    return judge;
  };
}

function createAjv(
  schemas: ReadonlyMap<string, object>,
  options: { timesToTheLetter: boolean; all: boolean },
): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: options.all,
    // Schemas of users may hold keywords and formats of their own.
    strict: false,
    // NaN and Infinity are numbers here: the driver writes them.
    strictNumbers: false,
    ownProperties: namesInherited(schemas),
    validateFormats: options.timesToTheLetter,
    formats: { "date-time": documentTime },
    logger: false,
  });
  for (const [name, schema] of schemas) {
    try {
      ajv.addSchema(schema, name);
    } catch (cause) {
      throw new RegistryError(`schema ${name} cannot be used: ${(cause as Error).message}`, { cause });
    }
  }
  return ajv;
}

const inherited = Object.getOwnPropertyNames(Object.prototype).map((name) => JSON.stringify(name));

/**
 * Whether a schema may name a property that every object inherits, such as `constructor`. Only then must the validator look at
 * own properties alone, which takes longer than all other judging.
 */
function namesInherited(schemas: ReadonlyMap<string, object>): boolean {
  return [...schemas.values()].some((schema) => {
    const text = JSON.stringify(schema);
    return inherited.some((name) => text.includes(name));
  });
}

function compileOne(ajv: Ajv2020, name: string): ValidateFunction {
  let judge: ValidateFunction | undefined;
  try {
    judge = ajv.getSchema(name);
  } catch (cause) {
    throw new RegistryError(`schema ${name} cannot be used: ${(cause as Error).message}`, { cause });
  }
  if (judge === undefined) throw new RegistryError(`the registry names ${name}, but there is no such schema`);
  return judge;
}

/** `runIdAt`: where else the run id may stand, '' for nowhere. */
function refuse(stage: "header" | "record", judge: ValidateFunction, runIdAt: string): Judgement {
  const violations = (judge.errors ?? []).slice(0, violationsMax).map((error) => toViolation(error));
  if (runIdAt === "") return { ok: false, stage, violations };
  const told = violations.map((violation) => {
    const isRunId = violation.rule === "required" && violation.message.includes("'run_id'");
    return isRunId ? { ...violation, message: `${violation.message}, in the header or at ${runIdAt}` } : violation;
  });
  return { ok: false, stage, violations: told };
}

function toViolation(error: ErrorObject): Violation {
  const { instancePath: pointer, keyword: rule, params } = error;
  const plain = error.message ?? "breaks the schema";
  if (rule === "enum") return { pointer, rule, message: `must be one of ${list(params["allowedValues"])}` };
  if (rule === "const") return { pointer, rule, message: `must be ${JSON.stringify(params["allowedValue"])}` };
  if (rule === "format") return { pointer, rule, message: "must be a time like 2026-11-15T02:48:56.995Z" };
  return { pointer, rule, message: plain };
}

function list(values: unknown): string {
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)).join(", ") : "the listed values";
}

// Lossless JSON as the plain values that a schema validator knows.

/** The value itself when it is plain already; else a copy in which integers of any size are doubles. */
function toPlain(value: JsonValue): JsonValue {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof NumberText) return Number(value.text);
  return Array.isArray(value) ? toPlainArray(value) : toPlainObject(value);
}

function toPlainArray(value: JsonValue[]): JsonValue[] {
  let copy: JsonValue[] | undefined;
  for (let i = 0; i < value.length; i++) {
    const plain = toPlain(value[i] as JsonValue);
    if (plain === value[i] || Number.isNaN(plain)) continue;
    copy ??= [...value];
    copy[i] = plain;
  }
  return copy ?? value;
}

function toPlainObject(value: JsonObject): JsonObject {
  let copy: JsonObject | undefined;
  for (const key of Object.keys(value)) {
    const plain = toPlain(value[key] as JsonValue);
    if (plain === value[key] || Number.isNaN(plain)) continue;
    copy ??= { ...value };
    copy[key] = plain;
  }
  return copy ?? value;
}
