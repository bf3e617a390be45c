// The key of a group of rows: `<workspace>/<kind>/<own id>`, made and taken apart here and nowhere else. It is stored
// with every row and never changes, so neither may this grammar. A workspace has no slash and a kind is one letter, so
// the own id is everything after the second slash, slashes of its own included.

import type { GroupName } from "./names.ts";

declare const brand: unique symbol;

/** A group key that was built here, not just any text. */
export type GroupKey = GroupName & { readonly [brand]: "GroupKey" };

/** What makes the group. The letters are stored: a new protocol takes a new one, and none is ever reused. */
export const groupKinds = {
  artifact: "a",
  cirronBatch: "c",
  otlpHour: "o",
  semantivaLaunch: "l",
  semantivaRun: "s",
  wrapper: "w",
  xtrackRun: "x",
} as const;
export type GroupKind = (typeof groupKinds)[keyof typeof groupKinds];

export interface GroupKeyParts {
  readonly workspace: string;
  readonly kind: string;
  /** The id that the group's records carry: of the run, the batch, the wrapper. */
  readonly ownId: string;
}

export function formatGroupKey(workspace: string, kind: GroupKind, ownId: string): GroupKey {
  return `${groupPrefix(workspace, kind)}${ownId}` as GroupKey;
}

/** How the keys of a workspace begin, or only those of one kind. */
export function groupPrefix(workspace: string, kind?: GroupKind): string {
  // Parsing its keys would give another workspace.
  if (workspace.includes("/")) throw new Error(`A workspace has no slash: ${JSON.stringify(workspace)}.`);
  return kind === undefined ? `${workspace}/` : `${workspace}/${kind}/`;
}

/** A launch is known by its id and its attempt. */
export function formatLaunchKey(workspace: string, launchId: string, attempt: bigint | number): GroupKey {
  return formatGroupKey(workspace, groupKinds.semantivaLaunch, `${launchId}/${attempt}`);
}

export function parseGroupKey(key: string): GroupKeyParts {
  const slash = key.indexOf("/");
  return { workspace: key.slice(0, slash), kind: key.charAt(slash + 1), ownId: key.slice(slash + 3) };
}

/** Export files name a group without its workspace, so that it can be read into another one. */
export function withoutWorkspace(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}

export function inWorkspace(workspace: string, rest: string): GroupKey {
  return `${groupPrefix(workspace)}${rest}` as GroupKey;
}
