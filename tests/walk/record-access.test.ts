import { beforeAll, describe, expect, test } from "vitest";
import { suiteApp } from "../support/app.ts";
import { toFrame } from "../support/frames.ts";

const walk = suiteApp();
const keys: Record<string, string> = { wrong: "tributary-wrong" };

beforeAll(async () => {
  const frame = toFrame({ type: "run_start", seq: 1, ts: 1_700_000_000_000_000, payload: { run_id: "r" } });
  await walk.post("/v1/xtrack?wait=1", frame, { "content-type": "application/octet-stream" });
  for (const scope of ["ingest", "read", "control", "admin"]) {
    const { body } = await walk.post("/api/v1/keys", JSON.stringify({ name: scope, scopes: [scope] }));
    keys[scope] = (body as { key: string }).key;
  }
});

async function statusOf(key: string, method: string, path: string): Promise<number> {
  const headers = { authorization: `Bearer ${keys[key]}`, "content-type": "application/json" };
  const body = method === "PUT" ? { body: '{"days":null}' } : {};
  const response = await fetch(`${walk.app.url}/api/v1/${path}`, { method, headers, ...body });
  await response.arrayBuffer();
  return response.status;
}

const callers = ["wrong", "ingest", "read", "control", "admin"];
const forReaders = [401, 403, 200, 403, 200];
const forAdmins = [401, 403, 403, 403, 200];

describe("who may ask", () => {
  test.each([
    ["GET", "runs/r/gaps", forReaders],
    ["GET", "runs/r/events", forReaders],
    ["GET", "runs/r/export?format=jsonl", forReaders],
    ["GET", "export?format=csv&kind=params", forReaders],
    ["GET", "retention", forReaders],
    ["PUT", "retention", forAdmins],
    ["GET", "audit", forAdmins],
    ["GET", "backup", forAdmins],
  ] as const)("%s /api/v1/%s", async (method, path, expected) => {
    const statuses: number[] = [];
    for (const caller of callers) statuses.push(await statusOf(caller, method, path));
    expect(statuses).toEqual(expected);
  });

  test.each([
    "runs/r/events?limit=0",
    "runs/r/events?order=sideways",
    "runs/r/events?from_ns=soon",
    "runs/r/export?format=xml",
    "runs/r/export?format=csv&kind=nonsense",
    "export?format=csv&kind=runs&filter=status:(",
    "audit?limit=5000",
  ])("is refused as bad input: %s", async (path) => {
    expect(await statusOf("admin", "GET", path)).toBe(400);
  });
});
