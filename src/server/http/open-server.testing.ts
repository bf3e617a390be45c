// For tests: a real HTTP server on a free port, with the narrow interfaces behind it standing in for the rest.

import { createHash } from "node:crypto";
import type { Handlers } from "#api/handler.ts";
import { readConfig } from "#config/read-config.ts";
import type { Config, SettingName } from "#config/settings.ts";
import type { Input } from "#intake/input.ts";
import type { Receipt } from "#intake/sequencer.ts";
import { BodyQueue } from "#server/body-queue.ts";
import { createLog } from "#server/log.ts";
import { createMetrics } from "#server/metrics.ts";
import { UnfinishedBytes } from "#server/unfinished-bytes.ts";
import { createHttpServer, type HttpServer } from "./create-http-server.ts";
import { KeyWatch } from "./key-watch.ts";
import { createKeySecret } from "./keys.ts";
import { LoggedOut } from "./logged-out.ts";
import type { BlobPut, Busy, Intake, KeyStore, StoredKey } from "./ports.ts";

export interface OpenServer {
  readonly server: HttpServer;
  readonly url: string;
  readonly inputs: Input[];
  /** What each request waited for: `durable`, `applied` or `queryable`, with its position. */
  readonly waits: string[];
  /** To be called when the records of a request are applied. */
  readonly applied: (() => void)[];
  readonly blobs: { put: BlobPut; bytes: Buffer }[];
  readonly keys: StoredKey[];
  readonly ownerSecret: string;
  /** What the next submissions answer; by default the body's own batch id. */
  respond: () => Promise<Receipt | Busy>;
  /** Why the next records find no room. */
  roomFor: Intake["roomFor"];
  addKey(scopes: StoredKey["scopes"], workspace?: string): string;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly flags?: Partial<Record<SettingName, string>>;
  readonly handlers?: Handlers;
  readonly webDir?: string;
  readonly problems?: () => string[];
  readonly drained?: () => Promise<void>;
  readonly keys?: StoredKey[];
}

export async function openServer(options: OpenOptions = {}): Promise<OpenServer> {
  const inputs: Input[] = [];
  const waits: string[] = [];
  const applied: OpenServer["applied"] = [];
  const blobs: OpenServer["blobs"] = [];
  const keys = options.keys ?? [];
  const ownerSecret = createKeySecret().secret;
  const flags = { httpAddress: "127.0.0.1:0", ...options.flags };
  const config: Config = readConfig({ flags, env: {} });
  const takeFile = async (put: BlobPut) => {
    const chunks: Buffer[] = [];
    for await (const chunk of put.body) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    blobs.push({ put, bytes });
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return { location: `/blobs/${put.key}`, sizeBytes: bytes.length, sha256 };
  };
  const open: Omit<OpenServer, "server" | "url"> = {
    inputs,
    waits,
    applied,
    blobs,
    keys,
    ownerSecret,
    respond: async () => ({ position: inputs.length, accepted: 1, duplicates: 0, faults: [] }),
    roomFor: () => null,
    addKey: (scopes, workspace = "default") => addKey(keys, scopes, workspace),
    close: () => server.close(1000),
  };
  const intake: Intake = {
    submit: async (submissions, answerWhen, _onSent, onApplied = null) => {
      waits.push(answerWhen);
      if (onApplied !== null) applied.push(onApplied);
      for (const submission of submissions) if (submission !== null) inputs.push(submission.input);
      return open.respond();
    },
    queryable: async (position) => {
      waits.push(`queryable ${position}`);
    },
    roomFor: (...asked) => open.roomFor(...asked),
    backlogBytes: () => 0,
  };
  const server = await createHttpServer({
    config,
    log: createLog({ level: "silent", format: "json" }),
    metrics: createMetrics(),
    keys: createKeyList(keys),
    keyWatch: new KeyWatch(createKeyList(keys)),
    loginSecret: new Uint8Array(32).fill(7),
    loggedOut: new LoggedOut(null),
    ownerSecret,
    xtrack: () => null,
    intake,
    queue: new BodyQueue(intake, 64 * 1024 * 1024),
    blobs: { putBlob: takeFile, putArtifact: takeFile },
    unfinished: new UnfinishedBytes(config.unfinishedBytesMax),
    sockets: { accept: (socket) => socket.on("message", (data) => socket.send(data)) },
    readiness: { problems: options.problems ?? (() => []), drained: options.drained ?? (async () => undefined) },
    handlers: options.handlers ?? {},
    webDir: options.webDir ?? "/nonexistent",
  });
  return Object.assign(open, { server, url: `http://127.0.0.1:${server.address.port}` });
}

function addKey(keys: StoredKey[], scopes: StoredKey["scopes"], workspace: string): string {
  const { id, secret, sha256 } = createKeySecret();
  keys.push({ id, name: `key ${id}`, workspace, scopes, sha256, createdNs: 1n, lastUsedNs: null });
  return secret;
}

function createKeyList(keys: StoredKey[]): KeyStore {
  return {
    list: () => keys,
    add: async (key) => {
      keys.push(key);
    },
    revoke: async (id) => {
      const at = keys.findIndex((key) => key.id === id);
      if (at >= 0) keys.splice(at, 1);
      return at >= 0;
    },
    noteUse: () => undefined,
  };
}
