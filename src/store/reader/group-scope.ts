// Which groups of rows a question is about.

import { type GroupKind, groupPrefix } from "#model/group-key.ts";

/** All of a workspace, or these. */
export type GroupScope =
  | { readonly workspace: string }
  | { readonly workspace: string; readonly groupKeys: readonly string[] };

/**
 * The groups of one kind, which stands in their keys. Null when the scope has none, so that nothing has to be asked.
 */
export function ofKind(scope: GroupScope, kind: GroupKind): GroupScope | null {
  if (!("groupKeys" in scope)) return scope;
  const prefix = groupPrefix(scope.workspace, kind);
  const groupKeys = scope.groupKeys.filter((key) => key.startsWith(prefix));
  return groupKeys.length === 0 ? null : { workspace: scope.workspace, groupKeys };
}

/** Of rows of the groups that the parameter `groups` lists. */
export const inGroups = "group_key IN {groups:Array(String)}";

/** All of these conditions; empty ones ask for nothing. */
export function allOf(...conditions: readonly string[]): string {
  return conditions.filter((condition) => condition !== "").join(" AND ");
}

export function inScope(column: string, scope: GroupScope): string {
  return "groupKeys" in scope
    ? `${column} IN {groups:Array(String)}`
    : `startsWith(toString(${column}), {prefix:String})`;
}

export function scopeParams(scope: GroupScope): Record<string, string | readonly string[]> {
  return "groupKeys" in scope ? { groups: scope.groupKeys } : { prefix: groupPrefix(scope.workspace) };
}

/** As `parseGroupKey` has it, in SQL. */
export function ownIdSql(key: string): string {
  return `substring(${key}, position(${key}, '/') + 3)`;
}
