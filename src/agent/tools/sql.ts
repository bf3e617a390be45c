// Whatever the other tools do not answer: read-only SQL.

import { cut, cutAll, pageOf, rowsMax } from "#agent/bound.ts";
import { count } from "#agent/measures.ts";
import { ToolMistake } from "#agent/mistake.ts";
import { defineTool } from "#agent/tool.ts";
import { Type } from "#api/contract/schema.ts";

export const sql = defineTool(
  {
    name: "sql",
    title: "Ask in SQL",
    scope: "admin",
    description:
      "One read-only ClickHouse SELECT over the tables of sql_schema. Aggregate in the query and page with LIMIT and " +
      "OFFSET: an answer has at most 100 rows.",
  },
  {
    query: Type.String({ minLength: 1, maxLength: 65_536 }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: `${rowsMax} when absent.` })),
  },
  async (api, { query, limit = rowsMax }) => {
    const { columns, rows, truncated } = await api.call("sql", { body: { query, limit } });
    const page = pageOf(
      rows.map((row) => cutAll(row, 1000)),
      undefined,
      limit,
    );
    const isCut = truncated || page.next !== null;
    const more = isCut ? "; there are more, see LIMIT and OFFSET" : "";
    return { text: `${count(page.rows.length, "row")}${more}.`, data: { columns, rows: page.rows, truncated: isCut } };
  },
);

export const sqlSchema = defineTool(
  {
    name: "sql_schema",
    title: "Tables for SQL",
    scope: "admin",
    description: "The tables that sql may use and what they hold; with a table, its columns.",
  },
  { table: Type.Optional(Type.String()) },
  async (api, { table }) => {
    const { tables } = await api.call("sqlSchema", {});
    if (table === undefined) {
      const rows = tables.map(({ name, means, columns }) => ({ name, means: cut(means), columns: columns.length }));
      return { text: `${count(rows.length, "table")}; ask for one to see its columns.`, data: { tables: rows } };
    }
    const found = tables.find(({ name }) => name === table);
    if (found !== undefined) return { text: `${table}: ${count(found.columns.length, "column")}.`, data: found };
    throw new ToolMistake(
      `There is no table ${JSON.stringify(table)}, only ${tables.map(({ name }) => name).join(", ")}.`,
    );
  },
);
