// The kinds of value a setting may have. A kind reads text (from a flag or the environment) and TOML values, and says in
// words what it allows, so that every wrong value gets the same clear answer.

import { resolve } from "node:path";

export type TomlValue = string | number | bigint | boolean | Date | TomlValue[] | { [key: string]: TomlValue };

export interface Kind<T> {
  /** What is allowed, to stand after "must be". */
  readonly allowed: string;
  /** The value, or undefined when the input is not allowed. */
  read(input: TomlValue): T | undefined;
  /** True when the value must never be printed. */
  readonly secret?: boolean;
}

export const text: Kind<string> = {
  allowed: "text",
  read: (input) => (typeof input === "string" ? input : undefined),
};

/** The keys of groups begin with a workspace and a slash. */
export const workspaceName: Kind<string> = {
  allowed: "text without a slash",
  read: (input) => (typeof input === "string" && /^[^/]+$/.test(input) ? input : undefined),
};

export const secret: Kind<string> = { ...text, secret: true };

/** A path, made absolute from the working directory; '' stays '' and means none. */
export const path: Kind<string> = {
  allowed: "a path",
  read: (input) => (typeof input === "string" ? (input === "" ? "" : resolve(input)) : undefined),
};

export const flag: Kind<boolean> = {
  allowed: "true or false",
  read: (input) => {
    if (typeof input === "boolean") return input;
    return input === "true" ? true : input === "false" ? false : undefined;
  },
};

export const count: Kind<number> = {
  allowed: "a whole number",
  read: (input) => {
    const value = typeof input === "string" && /^\d+$/.test(input) ? Number(input) : input;
    return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  },
};

export function choice<const T extends string>(...words: readonly T[]): Kind<T> {
  return {
    allowed: words.map((word) => `"${word}"`).join(" or "),
    read: (input) => words.find((word) => word === input),
  };
}

/** A list; in a flag or the environment its parts are separated by commas. */
export const list: Kind<readonly string[]> = {
  allowed: "a list of texts",
  read: (input) => {
    if (typeof input === "string") return Object.freeze(input.split(",").flatMap((part) => part.trim() || []));
    if (!Array.isArray(input)) return undefined;
    const parts = input.filter((part) => typeof part === "string");
    return parts.length === input.length ? Object.freeze(parts) : undefined;
  },
};

const byteUnits: Readonly<Record<string, number>> = {
  "": 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KIB: 2 ** 10,
  MIB: 2 ** 20,
  GIB: 2 ** 30,
  TIB: 2 ** 40,
};

export const bytes: Kind<number> = {
  allowed: 'a number of bytes, or a size such as "64 MiB"',
  read: (input) => readQuantity(input, byteUnits, (unit) => unit.toUpperCase()),
};

const msUnits: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1e3,
  m: 60e3,
  min: 60e3,
  h: 3600e3,
  d: 86_400e3,
};

export const duration: Kind<number> = {
  allowed: 'a time such as "500ms", "10s", "10m", "24h" or "30d"',
  read: (input) => (typeof input === "string" ? readQuantity(input, msUnits, (unit) => unit) : undefined),
};

export type Age = number | "off";

/** How old something may get. Zero is not allowed: a typing mistake could delete everything. */
export const age: Kind<Age> = {
  allowed: 'a time above zero such as "24h" or "30d", or "off"',
  read: (input) => (input === "off" ? "off" : duration.read(input) || undefined),
};

/** Ages by name: a TOML table, or `name=90d,other=off`. */
export const agesByName: Kind<Readonly<Record<string, Age>>> = {
  allowed: 'a table of times above zero, such as { team = "90d", archive = "off" }',
  read: (input) => {
    const pairs =
      typeof input === "string"
        ? input.split(",").flatMap((part) => (part === "" ? [] : [splitOnce(part, "=")]))
        : input;
    if (typeof pairs !== "object" || pairs instanceof Date) return undefined;
    const named: Record<string, Age> = {};
    for (const [name, value] of Array.isArray(pairs) ? (pairs as [string, TomlValue][]) : Object.entries(pairs)) {
      const read = age.read(value);
      if (read === undefined) return undefined;
      named[name] = read;
    }
    return Object.freeze(named);
  },
};

/** Tables by name, as they stand in the file. What uses them checks what is in them. */
export const tablesByName: Kind<Readonly<Record<string, unknown>>> = {
  allowed: "a table of tables",
  read: (input) => {
    if (input === "") return Object.freeze({});
    return isTable(input) && Object.values(input).every(isTable) ? Object.freeze(input) : undefined;
  },
};

export function isTable(value: TomlValue): value is Exclude<TomlValue & object, TomlValue[] | Date> {
  return typeof value === "object" && !Array.isArray(value) && !(value instanceof Date);
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export const address: Kind<Address> = {
  allowed: 'an address such as "127.0.0.1:7077" or "[::1]:7077"',
  read: (input) => {
    const match = typeof input === "string" ? /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s/]+)):(\d{1,5})$/.exec(input) : null;
    const port = Number(match?.[3]);
    if (!match || port > 65_535) return undefined;
    return Object.freeze({ host: match[1] ?? match[2] ?? "", port });
  },
};

export const addressOrOff: Kind<Address | "off"> = {
  allowed: `${address.allowed}, or "off"`,
  read: (input) => (input === "off" ? "off" : address.read(input)),
};

/** An http or https URL without its trailing slash; '' means none where the default is ''. */
export const url: Kind<string> = {
  allowed: "a URL that begins with http:// or https://",
  read: (input) => {
    if (input === "") return "";
    return typeof input === "string" && /^https?:\/\//i.test(input) && URL.canParse(input)
      ? input.replace(/\/+$/, "")
      : undefined;
  },
};

/** Several of these with commas between. */
export const urls: Kind<string> = {
  allowed: `${url.allowed}, or several with commas between`,
  read: (input) => {
    const parts = typeof input === "string" ? input.split(",").map((part) => url.read(part.trim())) : [undefined];
    const isList = parts.length > 1;
    return parts.some((part) => part === undefined || (isList && part === "")) ? undefined : parts.join(",");
  },
};

function readQuantity(
  input: TomlValue,
  units: Readonly<Record<string, number>>,
  toUnit: (unit: string) => string,
): number | undefined {
  if (typeof input === "number") return Number.isSafeInteger(input) && input >= 0 ? input : undefined;
  const match = typeof input === "string" ? /^(\d+(?:\.\d+)?)\s*([A-Za-z]*)$/.exec(input.trim()) : null;
  const factor = match && units[toUnit(match[2] ?? "")];
  if (!match || factor === undefined || factor === null) return undefined;
  const value = Math.round(Number(match[1]) * factor);
  return Number.isSafeInteger(value) ? value : undefined;
}

function splitOnce(part: string, by: string): [string, string] {
  const at = part.indexOf(by);
  return at < 0 ? [part.trim(), ""] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
}
