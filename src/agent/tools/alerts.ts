// What rules saw.

import { cut, pageOf, rowsMax } from "#agent/bound.ts";
import { count, toTime } from "#agent/measures.ts";
import { defineTool, pageInput, runInput } from "#agent/tool.ts";
import { Type } from "#api/contract/schema.ts";
import { given } from "#base/given.ts";

/** As many as the route returns at once. For older ones, ask by run or rule. */
const alertsMax = 1000;

export const getAlerts = defineTool(
  {
    name: "get_alerts",
    title: "Get alerts",
    scope: "read",
    description:
      "What rules saw of one run or of all, the newest first: the sentence with its evidence, whether the rule was armed, " +
      "what it did, and when it was over.",
  },
  { run: Type.Optional(runInput), rule: Type.Optional(Type.String({ maxLength: 256 })), ...pageInput },
  async (api, { run, rule, limit = rowsMax, cursor }) => {
    const query = { ...given({ rule }), limit: alertsMax };
    const { alerts } =
      run === undefined
        ? await api.call("alerts", { query })
        : await api.call("runAlerts", { params: { id: run }, query });
    const rows = alerts.map(({ run: of, rule: name, armed, text, evidence, fired_ns, resolved_ns, outcome }) => ({
      run: of,
      rule: name,
      armed,
      text,
      evidence: evidence.slice(0, 5).map((line) => cut(line, 200)),
      fired: toTime(fired_ns),
      ...given({ resolved: resolved_ns === null ? undefined : toTime(resolved_ns), outcome: outcome || undefined }),
    }));
    const page = pageOf(rows, cursor, limit);
    return { text: `${count(rows.length, "alert")}.`, data: { alerts: page.rows, next: page.next } };
  },
);
