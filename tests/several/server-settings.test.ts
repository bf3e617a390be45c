// What a ClickHouse server is asked for beside the SQL itself: as a guest nothing that its profile does not have, and for an
// insert as many replicas as the settings want.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Quorum } from "#store/address.ts";
import { createStore } from "#store/client.ts";
import { encodeObjects } from "#store/native/encode-objects.ts";
import type { Store } from "#store/store.ts";
import { askStore } from "../support/ask-store.ts";

/** Of ClickHouse: too few live replicas. */
const tooFew = "285";
let server: Server;
let asked: URLSearchParams[];
let isShort = false;

beforeAll(async () => {
  server = createServer((request, response) => {
    const search = new URL(request.url ?? "/", "http://server").searchParams;
    asked.push(search);
    request.resume();
    const isRefused = isShort && search.get("insert_quorum") === "auto";
    response.writeHead(isRefused ? 500 : 200, isRefused ? { "x-clickhouse-exception-code": tooFew } : {});
    response.end(search.has("query") ? "" : '["one"]\n["UInt8"]\n[1]\n');
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
beforeEach(() => {
  asked = [];
  isShort = false;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function withCluster<T>(quorum: Quorum, use: (store: Store) => Promise<T>): Promise<T> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const account = { user: "tributary", password: "", database: "tributary", guestUser: "tributary_guest" };
  const store = await createStore({ kind: "server", url, cluster: "traces", quorum, ...account });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

test("a guest's question asks for no setting that its profile has not, because it may change none", async () => {
  await withCluster("majority", (store) => askStore(store, { sql: "SELECT 1 AS one" }, { asGuest: true }));
  const users = readFileSync(new URL("../../deploy/clickhouse/users.xml", import.meta.url), "utf8");
  const [profile = ""] = /<tributary_guest>[\s\S]*?<\/tributary_guest>/.exec(users) ?? [];
  // The server's own word for the format is no setting.
  const settings = [...(asked[0] ?? [])].filter(([name]) => name !== "default_format");
  expect(settings.length).toBeGreaterThan(3);
  for (const [name, value] of settings) expect(profile).toContain(`<${name}>${value}</${name}>`);
});

const insert = (store: Store) =>
  store.insert("groups", encodeObjects({ group_key: "String" } as const, [{ group_key: "g" }]), { token: "once" });
const quorums = () => asked.map((search) => [search.get("insert_quorum"), search.get("insert_deduplication_token")]);

test("an insert waits for a majority, and takes those that live when they are too few", async () => {
  await withCluster("available", insert);
  expect(quorums()).toEqual([["auto", "once"]]);
  isShort = true;
  await withCluster("available", insert);
  expect(quorums().slice(1)).toEqual([
    ["auto", "once"],
    ["0", "once"],
  ]);
});

test("an insert for which a majority is wanted fails when too few live, and may be repeated", async () => {
  isShort = true;
  await expect(withCluster("majority", insert)).rejects.toMatchObject({ code: Number(tooFew), retryable: true });
  expect(quorums()).toEqual([["auto", "once"]]);
});
