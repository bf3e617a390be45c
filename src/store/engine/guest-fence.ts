// The second fence around SQL that people write. The guard reads the text before it is sent here; this fence reads the
// tree that the engine's own parser makes of it, so that a text which the two read differently opens nothing.

import { isAllowedFunction, tableFunctions } from "#store/sql-guard/functions.ts";

/** Parts of a SELECT that name no file, setting or format. All others, present and future, are refused. */
const nodeKinds: ReadonlySet<string> = new Set(
  `SelectWithUnionQuery SelectIntersectExceptQuery SelectQuery ExpressionList Function Literal Identifier TableIdentifier
  Asterisk QualifiedAsterisk ColumnsTransformerList ColumnsExceptTransformer ColumnsReplaceTransformer
  ColumnsReplaceTransformer::Replacement TablesInSelectQuery TablesInSelectQueryElement TableExpression TableJoin
  ArrayJoin Subquery OrderByElement InterpolateElement WindowDefinition WindowListElement WithElement DataType
  SampleRatio ColumnsRegexpMatcher ColumnsListMatcher QualifiedColumnsRegexpMatcher QualifiedColumnsListMatcher`.split(
    /\s+/,
  ),
);

/** The names of operators in the tree, in addition to the functions that may be called. */
const operators: ReadonlySet<string> = new Set(
  `plus minus multiply divide modulo negate equals notequals less greater lessorequals greaterorequals and or not xor in
  notin globalin globalnotin like notlike ilike notilike isnull isnotnull lambda tuple array tupleelement arrayelement
  cast _cast multiif casewithexpression casewithoutexpression exists concat`.split(/\s+/),
);

/**
 * Functions that reach outside the engine. They are refused as plain names too, because a function can be passed by
 * name.
 */
const outward: ReadonlySet<string> = new Set(["file", "catboostevaluate", "joinget", "joingetornull", "sleep"]);

/** The views of one run are called like functions; the engine has no function of its own with such a name. */
const viewOfRun = /_of$/;

/**
 * Why a statement is not for a guest, or null. `tree` is the engine's answer to EXPLAIN AST. A function must be on the list
 * wherever it stands: a name with line breaks in it can look like any other line of the tree.
 */
export function whyNotForGuests(tree: string): string | null {
  const lines = tree.trimEnd().split("\n");
  // A format, an output file or a setting of the whole statement is a second child of the root.
  if (lines[0] !== "SelectWithUnionQuery (children 1)") return "it is not a plain SELECT";
  for (const line of lines) {
    const [kind, name = ""] = line.trim().split(" ") as [string, string?];
    // The second line of a literal or name with a line break has no kind, and names nothing.
    if (kind === "Literal" || !/^[A-Z][A-Za-z:]+$/.test(kind)) continue;
    if (!nodeKinds.has(kind)) return `it has a part that is called ${kind}`;
    if (kind === "Identifier" && outward.has(name.toLowerCase())) return `it names ${name}`;
    if (kind === "Function" && !isAllowed(name)) return `it calls ${name}`;
  }
  return null;
}

function isAllowed(name: string): boolean {
  const lower = name.toLowerCase();
  return operators.has(lower) || isAllowedFunction(name) || tableFunctions.has(lower) || viewOfRun.test(name);
}
