// Every setting of Tributary, once: its key in tributary.toml, its flag, its default and one sentence about it.
// The environment variable is `TRIBUTARY_` plus the key in capitals, with underscores for dots, unless `env` names a
// shorter one. docs/configuration.md is generated from this table.

import {
  address,
  addressOrOff,
  age,
  agesByName,
  bytes,
  choice,
  count,
  duration,
  flag,
  type Kind,
  list,
  path,
  secret,
  tablesByName,
  text,
  url,
  urls,
  workspaceName,
} from "./kinds.ts";

export interface Setting<T> {
  readonly key: string;
  readonly kind: Kind<T>;
  /** As written in the file. */
  readonly default: string;
  readonly doc: string;
  readonly flag?: string;
  readonly env?: string;
}

function setting<T>(kind: Kind<T>, key: string, fallback: string, doc: string, names: Names = {}): Setting<T> {
  return { kind, key, default: fallback, doc, ...names };
}

interface Names {
  readonly flag?: string;
  readonly env?: string;
}

export const settings = {
  dataDir: setting(path, "data", ".tributary", "The folder that holds the journal, the embedded store and the blobs.", {
    flag: "--data",
  }),
  server: setting(url, "server", "http://127.0.0.1:7077", "The server that commands talk to.", { flag: "--server" }),
  key: setting(secret, "key", "", "The API key that commands send.", { flag: "--key" }),
  workspace: setting(workspaceName, "workspace", "default", "The workspace of requests without a key."),

  httpAddress: setting(address, "http.listen", "127.0.0.1:7077", "Where the HTTP server listens.", {
    flag: "--http",
    env: "TRIBUTARY_HTTP",
  }),
  httpHosts: setting(
    list,
    "http.hosts",
    "",
    "Host names that clients may use for this server, besides loopback names and its own addresses.",
  ),
  tlsCert: setting(path, "http.tls_cert", "", "The certificate chain (PEM) to serve HTTPS with."),
  tlsKey: setting(path, "http.tls_key", "", "The private key (PEM) that belongs to `http.tls_cert`."),
  trustedProxies: setting(
    list,
    "http.trusted_proxies",
    "",
    "Addresses or networks (CIDR) of proxies whose `X-Forwarded-*` headers are trusted.",
  ),
  httpConnectionsMax: setting(count, "http.connections_max", "10000", "The largest number of open HTTP connections."),
  headerTimeoutMs: setting(duration, "http.header_timeout", "10s", "How long a request's headers may take to arrive."),
  requestTimeoutMs: setting(duration, "http.request_timeout", "10m", "How long a whole request may take to arrive."),
  idleTimeoutMs: setting(duration, "http.idle_timeout", "75s", "How long a connection may wait for its next request."),

  authLoopback: setting(
    choice("open", "key"),
    "auth.loopback",
    "key",
    'Once keys exist: whether requests from this machine need one too ("key") or not ("open").',
  ),
  adminKey: setting(
    secret,
    "auth.admin_key",
    "",
    "A key with every scope in `workspace`, for the first start of a server without keys; at least 32 characters.",
  ),
  loginSecret: setting(
    secret,
    "auth.login_secret",
    "",
    "The secret that seals browser logins, the same for every collector. If empty, the data folder has one.",
  ),
  loginAgeMs: setting(duration, "auth.login_age", "30d", "How long a browser stays logged in."),

  xtrackAddress: setting(addressOrOff, "xtrack.listen", "127.0.0.1:9999", "Where XTrack workers connect over TCP.", {
    flag: "--xtrack",
    env: "TRIBUTARY_XTRACK",
  }),
  xtrackUnixPath: setting(path, "xtrack.unix", "", "A Unix socket for XTrack workers. Empty: none.", {
    flag: "--unix",
    env: "TRIBUTARY_UNIX",
  }),
  xtrackAcks: setting(
    choice("asked", "always", "never"),
    "xtrack.acks",
    "asked",
    "Which connections get acks and commands. A client that never reads loses its last events if it is sent any.",
  ),
  xtrackConnectionsMax: setting(
    count,
    "xtrack.connections_max",
    "10000",
    "The largest number of open XTrack connections.",
  ),
  firstFrameTimeoutMs: setting(
    duration,
    "xtrack.first_frame_timeout",
    "30s",
    "How long a new XTrack connection may take to send its first whole frame; after that there is no timeout.",
  ),

  otlpGrpcAddress: setting(
    addressOrOff,
    "otlp.grpc",
    "127.0.0.1:4317",
    "Where OpenTelemetry exporters connect over gRPC. If the port is taken, the server says so and starts without it.",
    { env: "TRIBUTARY_OTLP_GRPC" },
  ),
  otlpHttpAddress: setting(
    addressOrOff,
    "otlp.http",
    "off",
    "A second address for OTLP over HTTP, besides `http.listen`; exporters expect port 4318.",
    { env: "TRIBUTARY_OTLP_HTTP" },
  ),
  otlpSteps: setting(
    list,
    "otlp.steps",
    "",
    "More OpenTelemetry attributes that hold a training step, besides the known ones.",
  ),

  forwardOtlpUrl: setting(
    url,
    "forward.otlp.url",
    "",
    "An OTLP receiver (HTTP) that gets everything that is stored, written like OTEL_EXPORTER_OTLP_ENDPOINT. Empty: none.",
  ),
  forwardOtlpHeaders: setting(list, "forward.otlp.headers", "", "Headers for that receiver, each as `name=value`."),

  sessionGapMs: setting(
    duration,
    "cirron.session_gap",
    "10m",
    "Cirron batches with the same process id that are further apart than this are not joined by it alone.",
  ),
  runSilenceMs: setting(
    duration,
    "run.silence",
    "10m",
    "A run that is silent this long without having ended is `lost`.",
  ),

  bodyBytesMax: setting(bytes, "limits.body", "64 MiB", "The largest request body, after decompression."),
  bodyRatioMax: setting(count, "limits.ratio", "1000", "The largest compression ratio of a body."),
  blobBytesMax: setting(bytes, "limits.blob", "16 GiB", "The largest blob or artifact."),
  frameBytesMax: setting(bytes, "limits.frame", "64 MiB", "The largest XTrack frame; a longer one is skipped."),
  unfinishedBytesMax: setting(
    bytes,
    "limits.unfinished",
    "256 MiB",
    "How many bytes of unfinished bodies and frames may be held, over all connections; beyond it, large ones are refused.",
  ),
  lineBytesMax: setting(bytes, "limits.line", "64 MiB", "The longest line of a trace stream."),
  jsonDepthMax: setting(
    count,
    "limits.json_depth",
    "200",
    "How deep the JSON of batches and trace lines may be nested. For XTrack frames it is always 512.",
  ),

  journalBudgetBytes: setting(
    bytes,
    "journal.budget",
    "16 GiB",
    "How much accepted input may wait on disk while the store lags; beyond it, requests get 429.",
  ),
  journalSegmentBytes: setting(bytes, "journal.segment", "64 MiB", "The size at which a new journal file is started."),
  memoryBudgetBytes: setting(
    bytes,
    "memory.budget",
    "1 GiB",
    "Memory for waiting rows, known records, live events and kept answers, in total.",
  ),

  storeUrl: setting(
    urls,
    "store.url",
    "",
    "A ClickHouse server, or several of one cluster, separated by commas: if one fails, the next is used. Empty: the embedded engine.",
  ),
  storeUser: setting(text, "store.user", "default", "The ClickHouse user."),
  storePassword: setting(secret, "store.password", "", "The ClickHouse password."),
  storeDatabase: setting(text, "store.database", "tributary", "The ClickHouse database for the tables."),
  storeGuestUser: setting(
    text,
    "store.guest_user",
    "",
    "The read-only ClickHouse user for people's SQL. Empty: such SQL is refused.",
  ),
  storeGuestPassword: setting(secret, "store.guest_password", "", "The password of `store.guest_user`."),
  storeCluster: setting(
    text,
    "store.cluster",
    "",
    "The ClickHouse cluster for replicated, sharded tables. Empty: a single server.",
  ),
  storeQuorum: setting(
    choice("available", "majority"),
    "store.quorum",
    "available",
    "When rows count as stored in a cluster: once most replicas of the shard have them. If too few are alive, `available` accepts those, while `majority` waits, with the rows in the journal.",
  ),

  blobsKind: setting(choice("fs", "s3"), "blobs.kind", "fs", "Where blobs are kept: in the data folder, or in S3."),
  blobsBucket: setting(text, "blobs.bucket", "", "The S3 bucket."),
  blobsPrefix: setting(text, "blobs.prefix", "", "The prefix of object keys in the bucket."),
  blobsEndpoint: setting(url, "blobs.endpoint", "", "The endpoint of an S3-compatible store. Empty: Amazon's."),
  blobsRegion: setting(text, "blobs.region", "us-east-1", "The region of the bucket."),
  blobsAccessKey: setting(text, "blobs.access_key", "", "The access key id. Empty: the SDK's usual sources."),
  blobsSecretKey: setting(secret, "blobs.secret_key", "", "The secret that belongs to `blobs.access_key`."),
  blobsPathStyle: setting(
    flag,
    "blobs.path_style",
    "true",
    "Whether URLs have the bucket in their path instead of the host name.",
  ),

  busUrl: setting(
    text,
    "bus.url",
    "",
    "The NATS server (`nats://host:4222`, several separated by commas) that connects collectors on one store. Empty: a single collector.",
  ),
  busUser: setting(text, "bus.user", "", "The NATS user."),
  busPassword: setting(secret, "bus.password", "", "The NATS password; without a user, the token."),
  busPrefix: setting(text, "bus.prefix", "tributary", "The prefix of this installation's NATS subjects."),

  retentionMs: setting(
    age,
    "retention.age",
    "off",
    "Runs that receive nothing for this long are deleted with their files, in workspaces without a setting of their own.",
  ),
  retentionByWorkspaceMs: setting(
    agesByName,
    "retention.workspaces",
    "",
    'Ages for single workspaces, instead of `retention.age`; `"off"` keeps their runs forever.',
  ),

  watching: setting(
    choice("on", "off"),
    "watch.rules",
    "on",
    "Whether rules watch runs. Built-in rules only report on the page until somebody arms them.",
  ),
  rules: setting(tablesByName, "rules", "", "Rules by name; see [rules.md](rules.md)."),
  watchPrivate: setting(
    flag,
    "watch.private",
    "false",
    "Whether webhooks and mail of rules may reach loopback, private and link-local addresses.",
  ),
  watchHosts: setting(
    list,
    "watch.hosts",
    "",
    "Hosts that webhooks and mail may reach even if their address is private.",
  ),
  watchSecret: setting(
    secret,
    "watch.secret",
    "",
    "The secret that signs webhooks, the same for every collector. If empty, the data folder has one.",
  ),
  watchPage: setting(url, "watch.page", "", "The URL of this server for people, used in messages."),
  mailServer: setting(
    secret,
    "watch.mail_server",
    "",
    "The mail server for rules, `smtp://user:password@host:587` or `smtps://…`. Empty: no mail.",
  ),
  mailFrom: setting(text, "watch.mail_from", "tributary@localhost", "The sender address of that mail."),

  sqlTimeoutMs: setting(duration, "sql.timeout", "30s", "How long people's SQL may run."),
  sqlMemoryBytesMax: setting(bytes, "sql.memory", "1 GiB", "How much memory people's SQL may take."),
  sqlRowsMax: setting(count, "sql.rows", "1000000", "How many rows people's SQL may return."),

  logLevel: setting(
    choice("debug", "info", "warn", "error"),
    "log.level",
    "info",
    "The lowest level to log; `--verbose` means debug, `--quiet` means error.",
  ),
  logFormat: setting(
    choice("auto", "json", "text"),
    "log.format",
    "auto",
    "The format of log lines; auto is text on a terminal and JSON elsewhere.",
  ),
} as const;

export type SettingName = keyof typeof settings;

/** All settings, read once when the program starts. Durations are milliseconds, sizes are bytes. */
export type Config = {
  readonly [N in SettingName]: (typeof settings)[N] extends Setting<infer T> ? T : never;
};

export function toEnvName(of: Setting<unknown>): string {
  return of.env ?? `TRIBUTARY_${of.key.toUpperCase().replaceAll(".", "_")}`;
}
