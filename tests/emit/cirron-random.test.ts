// Any program of scopes and marks comes back from the spool as the tree it was.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mark, profile, scope, shutdown } from "../../src/emit/cirron.ts";
import { makeFolder } from "../support/folder.ts";
import { readSpool } from "./read-spool.ts";

type Program =
  | { kind: "scope"; name: string; body: Program[] }
  | { kind: "mark"; name: string; value: number | string | boolean };

describe("random programs", () => {
  it("come back as the same tree of scopes and marks", async () => {
    const leaf: fc.Arbitrary<Program> = fc.record({
      kind: fc.constant("mark" as const),
      name: fc.string({ unit: "grapheme" }),
      value: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.string({ maxLength: 20 }), fc.boolean()),
    });
    const { tree } = fc.letrec<{ tree: Program }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.record({
          kind: fc.constant("scope" as const),
          name: fc.string({ unit: "binary" }),
          body: fc.array(tie("tree"), { maxLength: 4 }),
        }),
      ),
    }));
    const run = async (programs: Program[], isAsync: boolean): Promise<void> => {
      for (const program of programs) {
        if (program.kind === "mark") mark(program.name, program.value);
        else if (isAsync) await scope(program.name, async () => run(program.body, isAsync));
        else scope(program.name, () => void runSync(program.body));
      }
    };
    const runSync = (programs: Program[]): void => {
      for (const program of programs) {
        if (program.kind === "mark") mark(program.name, program.value);
        else scope(program.name, () => runSync(program.body));
      }
    };
    await fc.assert(
      fc.asyncProperty(fc.array(tree, { maxLength: 5 }), fc.boolean(), async (programs, isAsync) => {
        const path = makeFolder();
        profile({ path });
        await run(programs, isAsync);
        await shutdown();
        const { spans, marks } = readSpool(path);
        const rebuild = (parent: string): unknown[] => {
          const rows = [
            ...spans.filter((row) => row.parent_id === parent).map((row) => ({ at: row.start_ns, order: row.id, row })),
            ...marks
              .filter((row) => row.span_id === parent && row.name !== "cirron.overhead_ms")
              .map((row) => ({ at: row.ts_ns, order: row.id, row })),
          ].sort((a, b) => (a.at === b.at ? (a.order < b.order ? -1 : 1) : a.at < b.at ? -1 : 1));
          return rows.map(({ row }) =>
            "parent_id" in row
              ? { kind: "scope", name: row.name, body: rebuild(row.id) }
              : { kind: "mark", name: row.name, value: row.value },
          );
        };
        const session = spans.find((row) => row.parent_id === null);
        expect(rebuild((session as { id: string }).id)).toEqual(programs);
      }),
      { numRuns: 60 },
    );
  });
});
