// The query string as plain text: repeated names are lists, nothing is JSON, so that a link can be read and written
// by hand.

export type SearchRecord = Record<string, string | string[] | undefined>;

export function parseSearch(text: string): SearchRecord {
  const found: SearchRecord = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const before = found[name];
    found[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value];
  }
  return found;
}

export function formatSearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null && each !== "") params.append(name, String(each));
    }
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

export function asText(value: unknown): string | undefined {
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === "string" && first !== "" ? first : undefined;
}

export function asList(value: unknown): string[] | undefined {
  if (value === undefined || value === "") return undefined;
  const list = (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === "string");
  return list.length === 0 ? undefined : list;
}

/** A function that reads these names from a query string, each as its reader says; what is absent is left out. */
export function toSearchParser<R extends Readonly<Record<string, (value: unknown) => unknown>>>(readers: R) {
  return (search: Record<string, unknown>) =>
    defined(
      Object.fromEntries(Object.entries(readers).map(([name, read]) => [name, read(search[name])])) as {
        [K in keyof R]: ReturnType<R[K]>;
      },
    );
}

/** Leaves out what is undefined, as exact optional properties want it. */
export function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as never;
}
