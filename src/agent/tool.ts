// What a tool is, and the inputs that many of them share.

import type { Static, TObject, TProperties } from "typebox";
import type { Scope } from "#api/contract/admin.ts";
import { Type } from "#api/contract/schema.ts";
import type { AgentApi } from "./agent-api.ts";
import { rowsMax } from "./bound.ts";
import { ToolMistake } from "./mistake.ts";

export interface ToolAnswer {
  /** One line, for clients that show only the text. */
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Tool<I extends TObject = TObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly scope: Scope;
  readonly input: I;
  answer(api: AgentApi, input: Static<I>, signal: AbortSignal): Promise<ToolAnswer>;
}

export function defineTool<const P extends TProperties>(
  head: Pick<Tool, "name" | "title" | "description" | "scope">,
  input: P,
  answer: (api: AgentApi, input: Static<TObject<P>>, signal: AbortSignal) => Promise<ToolAnswer>,
): Tool {
  const known = Object.keys(input);
  return {
    ...head,
    input: Type.Object(input),
    async answer(api, asked, signal) {
      // A misspelt argument would be ignored silently, and the schema's refusal would not name it.
      const unknown = Object.keys(asked).find((name) => !known.includes(name));
      if (unknown === undefined) return answer(api, asked as Static<TObject<P>>, signal);
      throw new ToolMistake(`${head.name} takes no ${JSON.stringify(unknown)}, only ${known.join(", ")}.`);
    },
  };
}

export const runInput = Type.String({ minLength: 1, maxLength: 512, description: "Run id or alias." });

export const pageInput = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: `Rows; default ${rowsMax}, fewer if they are large.` }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 4096, description: "`next` of the previous answer." })),
};

const time = { maxLength: 64, description: "RFC 3339, or nanoseconds since the epoch." };
export const windowInput = { from: Type.Optional(Type.String(time)), to: Type.Optional(Type.String(time)) };
