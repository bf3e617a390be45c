// Log lines of a run, and input that could not be understood.

import { cut, fitPage, rowsMax } from "#agent/bound.ts";
import { count, readWindow, toTime } from "#agent/measures.ts";
import { defineTool, pageInput, runInput, windowInput } from "#agent/tool.ts";
import { word } from "#api/contract/scalar.ts";
import { Type } from "#api/contract/schema.ts";
import { given } from "#base/given.ts";

export const searchLogs = defineTool(
  {
    name: "search_logs",
    title: "Search logs",
    scope: "read",
    description:
      "Log lines and output of a run, the newest first unless order is asc, by text, level, worker and time.",
  },
  {
    run: runInput,
    q: Type.Optional(Type.String({ maxLength: 1024, description: "Case-insensitive text in the message." })),
    level: Type.Optional(Type.Array(Type.String(), { maxItems: 16, description: "Levels as the run writes them." })),
    worker: Type.Optional(Type.Array(Type.String(), { maxItems: 16 })),
    order: Type.Optional(word(["asc", "desc"])),
    ...windowInput,
    ...pageInput,
  },
  async (api, { run, q, level, worker, order = "desc", from, to, limit = rowsMax, cursor }) => {
    const query = { order, chars: 500, ...given({ q, level, worker, cursor, ...readWindow({ from, to }) }) };
    let levels: Record<string, number> = {};
    const page = await fitPage(limit, async (rows) => {
      const answer = await api.call("logs", { params: { id: run }, query: { ...query, limit: rows } });
      levels = answer.levels;
      return { rows: answer.logs, next: answer.next };
    });
    const logs = page.rows.map(({ ts_ns, level: of, worker: who, msg, step, stream }) => ({
      time: toTime(ts_ns),
      ...given({
        level: of || undefined,
        worker: who || undefined,
        stream: stream || undefined,
        step: step ?? undefined,
      }),
      msg,
    }));
    return {
      text: `${count(logs.length, "line")}${page.next === null ? "" : " and more"}.`,
      data: { logs, levels, next: page.next },
    };
  },
);

export const getFaults = defineTool(
  {
    name: "get_faults",
    title: "Get faults",
    scope: "read",
    description:
      "Input that could not be understood, of one run or of all, with what the code means, what to do about it, and the " +
      "beginning of the bytes.",
  },
  {
    run: Type.Optional(runInput),
    code: Type.Optional(Type.Array(Type.String(), { maxItems: 16 })),
    ...windowInput,
    ...pageInput,
  },
  async (api, { run, code, from, to, limit = rowsMax, cursor }) => {
    let codes: Record<string, number> = {};
    const page = await fitPage(limit, async (rows) => {
      const query = { ...given({ code, cursor, ...readWindow({ from, to }) }), limit: rows };
      const answer =
        run === undefined
          ? await api.call("faults", { query })
          : await api.call("runFaults", { params: { id: run }, query });
      codes = answer.codes;
      const faults = answer.faults.map(({ raw_base64, received_ns, detail, blast: _, ...fault }) => ({
        ...fault,
        detail: cut(detail),
        time: toTime(received_ns),
        raw: cut(Buffer.from(raw_base64, "base64").toString(), 200),
      }));
      return { rows: faults, next: answer.next };
    });
    const total = Object.values(codes).reduce((sum, number) => sum + number, 0);
    return { text: `${count(total, "fault")}.`, data: { faults: page.rows, codes, next: page.next } };
  },
);
