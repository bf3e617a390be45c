// Names that are all text, stand side by side in many calls and are easily taken for each other. Bare text, as it comes
// from a client or out of a test, fits each of them; a name of one kind does not fit where another is asked for.

declare const kind: unique symbol;

type Name<Kind extends string> = string & { readonly [kind]?: Kind };

export type Workspace = Name<"workspace">;
export type RunId = Name<"run">;
/** '' for a worker that has none. */
export type WorkerId = Name<"worker">;
