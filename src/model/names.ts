// Branded names: all are text, appear side by side in many calls and are easily confused. Plain text, from a client or a
// test, fits each of them, but a name of one kind does not fit where another is expected.

declare const kind: unique symbol;

type Name<Kind extends string> = string & { readonly [kind]?: Kind };

export type Workspace = Name<"workspace">;
export type RunId = Name<"run">;
/** '' for a worker that has none. */
export type WorkerId = Name<"worker">;
/** The key of a group as it comes from a store or another collector; group-key.ts builds those of new rows. */
export type GroupName = Name<"group">;
