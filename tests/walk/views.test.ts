import { expect, test } from "vitest";
import type { SavedView } from "#api/contract/view.ts";
import { suiteApp } from "../support/app.ts";

const walk = suiteApp({ authLoopback: "key" });

async function ask(key: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${walk.app.url}/api/v1${path}`, {
    method,
    headers: {
      ...(key === "" ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function names(key: string, page = "runs"): Promise<string[]> {
  const { body } = await ask(key, "GET", `/views?page=${page}`);
  return (body["views"] as SavedView[]).map((view) => `${view.name}${view.shared ? " (shared)" : ""}`);
}

test("a view is its owner's until it is shared, survives a restart, and needs the right scope to change for all", async () => {
  const keyOf = async (name: string, scopes: string[], by = "") =>
    (await ask(by, "POST", "/keys", { name, scopes })).body["key"] as string;
  const admin = await keyOf("root", ["admin"]);
  const ada = await keyOf("ada", ["read", "control"], admin);
  const reader = await keyOf("reader", ["read"], admin);

  const mine = { search: "?filter=lr%3C0.1&sort=name", shared: false };
  expect(await ask(ada, "PUT", "/views/runs/my%20runs", mine)).toMatchObject({
    status: 200,
    body: { page: "runs", name: "my runs", by: "ada", ...mine },
  });
  await ask(reader, "PUT", "/views/runs/quiet", { search: "?group=tag", shared: false });
  expect(await names(ada)).toEqual(["my runs"]);
  expect(await names(reader)).toEqual(["quiet"]);
  expect(await names(ada, "charts")).toEqual([]);

  await ask(ada, "PUT", "/views/runs/my%20runs", { ...mine, shared: true });
  await walk.reopen();
  expect(await names(ada)).toEqual(["my runs (shared)"]);
  expect(await names(reader)).toEqual(["my runs (shared)", "quiet"]);

  const refused = { status: 403, body: { code: "scope_missing" } };
  expect(await ask(reader, "PUT", "/views/runs/loud", { search: "", shared: true })).toMatchObject(refused);
  expect(await ask(reader, "PUT", "/views/runs/my%20runs", mine)).toMatchObject(refused);
  expect(await ask(reader, "DELETE", "/views/runs/my%20runs")).toMatchObject(refused);
  expect(await ask(reader, "DELETE", "/views/runs/nothing")).toMatchObject({ status: 404 });

  expect((await ask(ada, "DELETE", "/views/runs/my%20runs")).status).toBe(200);
  expect((await ask(reader, "DELETE", "/views/runs/quiet")).status).toBe(200);
  expect([await names(ada), await names(reader)]).toEqual([[], []]);
  const { body } = await ask(admin, "GET", "/audit");
  const actions = (body["entries"] as { action: string }[]).map(({ action }) => action);
  expect(actions).toEqual(expect.arrayContaining(["view_shared", "view_deleted"]));
});
