// The spans that marks lie in, for marks that have no step or epoch of their own.

/** The step and epoch of every span that a mark without a step hangs on. */
export function enclosingSql(database: string): string {
  const mine = "group_key IN {groups:Array(String)}";
  const columns = "span_id, ifNull(parent_id, '') AS parent_id, toString(name) AS name, index";
  const wanted = `SELECT span_id FROM ${database}.metrics WHERE ${mine} AND key IN {keys:Array(String)}
      AND span_id != '' AND (step IS NULL OR epoch IS NULL)`;
  const spans = `SELECT ${columns} FROM ${database}.spans WHERE ${mine}`;
  const pick = (name: string) =>
    `multiIf(a.name = '${name}', a.index, b.name = '${name}', b.index, c.name = '${name}', c.index, d.name = '${name}', d.index, NULL)`;
  return `SELECT a.span_id AS span_id, ${pick("step")} AS step, ${pick("epoch")} AS epoch
      FROM (${spans} AND span_id IN (${wanted})) AS a
      LEFT JOIN (${spans}) AS b ON b.span_id = a.parent_id
      LEFT JOIN (${spans}) AS c ON c.span_id = b.parent_id
      LEFT JOIN (${spans}) AS d ON d.span_id = c.parent_id`;
}
