import { expect, it } from "vitest";
import { atOnce } from "#base/turns.ts";
import { hashRows } from "#intake/content-hash.ts";
import type { Rows } from "#model/tables.ts";
import { type DecodedExport, decodeExport } from "#wire/otlp/decode.ts";
import {
  everyMetric,
  fullSpan,
  logsOf,
  metricsOf,
  someLogs,
  toProtobuf,
  tracesOf,
} from "#wire/otlp/fixture.testing.ts";
import { toRoleOf } from "#wire/otlp/meaning.ts";
import type { Signal } from "#wire/otlp/schema.ts";
import { spanContent } from "./identity.ts";

function decoded<S extends Signal>(signal: S, request: object): Extract<DecodedExport, { signal: S }> {
  const result = decodeExport(signal, toProtobuf(signal, request), { roleOf: toRoleOf([]) });
  if (!result.ok) throw new Error(result.refusal.detail);
  return result.request as Extract<DecodedExport, { signal: S }>;
}

// The numbers below are in stores already: a record that is sent again is known by them.

it("gives a span the content that earlier versions stored, whatever columns are added", () => {
  const { rows } = decoded("traces", tracesOf([fullSpan])).columns;
  const later = { ...rows, added_later: rows.name } as Rows<"spans">;
  expect([...atOnce(hashRows(spanContent(later), 1))]).toEqual([2723257810]);
});

it("gives points and log records the identities that earlier versions stored", () => {
  const points = decoded("metrics", metricsOf(everyMetric)).columns.rows.event_id;
  expect(Array.from({ length: points.length }, (_, row) => points.at(row))).toEqual([
    "8b3b1e489aafbec5ed4d1f183b1922fc",
    "b60ad9f356493f25c19074e630c16753",
    "8d9bef61272ff0b5a0ce147b95a533fb",
    "66f0a6ff1357bdf2d75baa729d29e924",
    "2cbcb2b26f41770d0be9552b5a577854",
  ]);
  const logs = decoded("logs", logsOf(someLogs)).columns.rows.seq;
  expect(Array.from({ length: logs.length }, (_, row) => logs.at(row))).toEqual([
    634335404176556834n,
    7289307661333989926n,
    1010222038792895414n,
  ]);
});
