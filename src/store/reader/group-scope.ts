// Which groups of rows a question is about.

/** All of a workspace, or these. */
export type GroupScope =
  | { readonly workspace: string }
  | { readonly workspace: string; readonly groupKeys: readonly string[] };

/**
 * The groups of one kind, which stands in their keys: `x` XTrack, `s` Semantiva, `c` Cirron, `w` a program that was
 * wrapped. Null when the scope has none, so that nothing has to be asked.
 */
export function ofKind(scope: GroupScope, kind: "x" | "s" | "c" | "w"): GroupScope | null {
  if (!("groupKeys" in scope)) return scope;
  const prefix = `${scope.workspace}/${kind}/`;
  const groupKeys = scope.groupKeys.filter((key) => key.startsWith(prefix));
  return groupKeys.length === 0 ? null : { workspace: scope.workspace, groupKeys };
}

export function inScope(column: string, scope: GroupScope): string {
  return "groupKeys" in scope
    ? `${column} IN {groups:Array(String)}`
    : `startsWith(toString(${column}), {prefix:String})`;
}

export function scopeParams(scope: GroupScope): Record<string, string | string[]> {
  return "groupKeys" in scope ? { groups: [...scope.groupKeys] } : { prefix: `${scope.workspace}/` };
}
