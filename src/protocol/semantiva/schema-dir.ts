// A folder with the user's own schemas: `registry.json` says which file judges which record type.
//
//   {"records": {"node_metric": "node-metric.schema.json"}}

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { bundledSchemas } from "#wire/semantiva/bundled.ts";
import { createRegistry, type Registry, RegistryError, type SchemaSet } from "#wire/semantiva/registry.ts";

/** The bundled schemas and those of the folder, '' for none. Throws RegistryError when they cannot be used. */
export async function readRegistry(schemaDir: string): Promise<Registry> {
  return schemaDir === ""
    ? createRegistry(bundledSchemas)
    : createRegistry(bundledSchemas, await readSchemas(schemaDir));
}

async function readSchemas(folder: string): Promise<SchemaSet> {
  const schemas: Record<string, object> = {};
  let registry: unknown;
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (cause) {
    throw new RegistryError(`the schema folder ${folder} cannot be read`, { cause });
  }
  for (const name of names.filter((candidate) => candidate.endsWith(".json")).sort()) {
    const value = await readJson(join(folder, name));
    if (name === "registry.json") registry = value;
    else schemas[name] = value;
  }
  if (!isRegistry(registry)) {
    throw new RegistryError(`${folder} needs a registry.json like {"records": {"my_type": "my-type.schema.json"}}`);
  }
  return { registry, schemas };
}

async function readJson(path: string): Promise<object> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    if (typeof value === "object" && value !== null) return value;
  } catch (cause) {
    throw new RegistryError(`${path} is not JSON`, { cause });
  }
  throw new RegistryError(`${path} is not a JSON object`);
}

function isRegistry(value: unknown): value is SchemaSet["registry"] {
  if (typeof value !== "object" || value === null) return false;
  const { records } = value as { records?: unknown };
  if (typeof records !== "object" || records === null) return false;
  return Object.values(records).every(
    (entry) => typeof entry === "string" || typeof (entry as { schema?: unknown } | null)?.schema === "string",
  );
}
