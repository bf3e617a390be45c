// Which groups of rows a question is about.

/** All of a workspace, or these. */
export type GroupScope =
  | { readonly workspace: string }
  | { readonly workspace: string; readonly groupKeys: readonly string[] };

export function inScope(column: string, scope: GroupScope): string {
  return "groupKeys" in scope
    ? `${column} IN {groups:Array(String)}`
    : `startsWith(toString(${column}), {prefix:String})`;
}

export function scopeParams(scope: GroupScope): Record<string, string | string[]> {
  return "groupKeys" in scope ? { groups: [...scope.groupKeys] } : { prefix: `${scope.workspace}/` };
}
