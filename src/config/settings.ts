// Every setting of Tributary, once: its key in tributary.toml, its flag, its default and one sentence about it.
// The environment variable is `TRIBUTARY_` and the key in capitals, dots as underscores, unless `env` names a shorter one.
// docs/configuration.md is written from this table.

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
  /** As one would write it in the file. */
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
  workspace: setting(workspaceName, "workspace", "default", "The workspace of requests that come without a key."),

  httpAddress: setting(address, "http.listen", "127.0.0.1:7077", "Where the HTTP server listens.", {
    flag: "--http",
    env: "TRIBUTARY_HTTP",
  }),
  httpHosts: setting(
    list,
    "http.hosts",
    "",
    "Host names under which the server may be reached, beside loopback names and its own address.",
  ),
  tlsCert: setting(path, "http.tls_cert", "", "The certificate chain (PEM) to serve HTTPS with."),
  tlsKey: setting(path, "http.tls_key", "", "The private key (PEM) that belongs to `http.tls_cert`."),
  trustedProxies: setting(
    list,
    "http.trusted_proxies",
    "",
    "Addresses or networks (CIDR) of proxies whose `X-Forwarded-*` headers are believed.",
  ),
  httpConnectionsMax: setting(count, "http.connections_max", "10000", "HTTP connections open at one time."),
  headerTimeoutMs: setting(duration, "http.header_timeout", "10s", "How long a request's headers may take to arrive."),
  requestTimeoutMs: setting(duration, "http.request_timeout", "10m", "How long a whole request may take to arrive."),
  idleTimeoutMs: setting(duration, "http.idle_timeout", "75s", "How long a connection may wait for its next request."),

  authLoopback: setting(
    choice("open", "key"),
    "auth.loopback",
    "key",
    'Whether requests from this machine need a key like all others once keys exist ("key"), or pass without ("open").',
  ),
  adminKey: setting(
    secret,
    "auth.admin_key",
    "",
    "A key with every scope in `workspace`, for a server that starts where no key was made yet; at least 32 characters.",
  ),
  loginSecret: setting(
    secret,
    "auth.login_secret",
    "",
    "What browser logins are sealed with, the same at every collector; one in the data folder when empty.",
  ),
  loginAgeMs: setting(duration, "auth.login_age", "30d", "How long a browser stays logged in."),

  xtrackAddress: setting(addressOrOff, "xtrack.listen", "127.0.0.1:9999", "Where XTrack workers connect by TCP.", {
    flag: "--xtrack",
    env: "TRIBUTARY_XTRACK",
  }),
  xtrackUnixPath: setting(path, "xtrack.unix", "", "A Unix socket for XTrack workers; none when empty.", {
    flag: "--unix",
    env: "TRIBUTARY_UNIX",
  }),
  xtrackAcks: setting(
    choice("asked", "always", "never"),
    "xtrack.acks",
    "asked",
    "Which connections get acks and commands; a client that never reads loses its last events when it is sent any.",
  ),
  xtrackConnectionsMax: setting(count, "xtrack.connections_max", "10000", "XTrack connections open at one time."),
  firstFrameTimeoutMs: setting(
    duration,
    "xtrack.first_frame_timeout",
    "30s",
    "How long a new XTrack connection may take to send its first whole frame; there is no timeout after it.",
  ),

  otlpGrpcAddress: setting(
    addressOrOff,
    "otlp.grpc",
    "127.0.0.1:4317",
    "Where OpenTelemetry exporters connect by gRPC; a port that is taken is said and left alone.",
    { env: "TRIBUTARY_OTLP_GRPC" },
  ),
  otlpHttpAddress: setting(
    addressOrOff,
    "otlp.http",
    "off",
    "Where OTLP over HTTP is taken beside `http.listen`; exporters look for it on port 4318.",
    { env: "TRIBUTARY_OTLP_HTTP" },
  ),
  otlpSteps: setting(
    list,
    "otlp.steps",
    "",
    "Names of OpenTelemetry attributes that say a step of a training, beside those that are known.",
  ),

  forwardOtlpUrl: setting(
    url,
    "forward.otlp.url",
    "",
    "An OTLP receiver over HTTP to which everything that is stored is sent on, as OTEL_EXPORTER_OTLP_ENDPOINT names it; none when empty.",
  ),
  forwardOtlpHeaders: setting(
    list,
    "forward.otlp.headers",
    "",
    "Headers that this receiver wants, each as `name=value`.",
  ),

  sessionGapMs: setting(
    duration,
    "cirron.session_gap",
    "10m",
    "Cirron batches of one process further apart than this are not joined by process id alone.",
  ),
  runSilenceMs: setting(duration, "run.silence", "10m", "A run without an end that is silent for so long is lost."),

  bodyBytesMax: setting(bytes, "limits.body", "64 MiB", "The largest request body, after decompression."),
  bodyRatioMax: setting(count, "limits.ratio", "1000", "How many bytes one compressed byte may become."),
  blobBytesMax: setting(bytes, "limits.blob", "16 GiB", "The largest blob or artifact."),
  frameBytesMax: setting(bytes, "limits.frame", "64 MiB", "The largest XTrack frame; a longer one is skipped."),
  unfinishedBytesMax: setting(
    bytes,
    "limits.unfinished",
    "256 MiB",
    "How many bytes of bodies and frames that are still arriving may be held, over all connections; beyond it large ones are refused.",
  ),
  lineBytesMax: setting(bytes, "limits.line", "64 MiB", "The longest line of a trace stream."),
  jsonDepthMax: setting(
    count,
    "limits.json_depth",
    "200",
    "How deep JSON of batches and trace lines may be nested; of XTrack frames it is always 512.",
  ),

  journalBudgetBytes: setting(
    bytes,
    "journal.budget",
    "16 GiB",
    "How much accepted input may wait on disk while the store lags; beyond it requests get 429.",
  ),
  journalSegmentBytes: setting(bytes, "journal.segment", "64 MiB", "The size at which a new journal file begins."),
  memoryBudgetBytes: setting(
    bytes,
    "memory.budget",
    "1 GiB",
    "How much memory the server may hold for what waits, what is known, what is live and what was answered.",
  ),

  storeUrl: setting(
    urls,
    "store.url",
    "",
    "A ClickHouse server, or several of one cluster with commas between: the next is asked when one fails. The embedded engine when empty.",
  ),
  storeUser: setting(text, "store.user", "default", "The user at the ClickHouse server."),
  storePassword: setting(secret, "store.password", "", "The password at the ClickHouse server."),
  storeDatabase: setting(text, "store.database", "tributary", "The database to keep the tables in."),
  storeGuestUser: setting(
    text,
    "store.guest_user",
    "",
    "The read-only user at the ClickHouse server for SQL that people write; such SQL is refused when empty.",
  ),
  storeGuestPassword: setting(secret, "store.guest_password", "", "The password of `store.guest_user`."),
  storeCluster: setting(
    text,
    "store.cluster",
    "",
    "The ClickHouse cluster on which to create replicated, sharded tables; a single server when empty.",
  ),
  storeQuorum: setting(
    choice("available", "majority"),
    "store.quorum",
    "available",
    "What counts as stored in a cluster: most replicas of a shard have it; while too few of them live, `available` is content with those, and with `majority` it waits in the journal.",
  ),

  blobsKind: setting(choice("fs", "s3"), "blobs.kind", "fs", "Where blobs are kept: in the data folder, or in S3."),
  blobsBucket: setting(text, "blobs.bucket", "", "The S3 bucket."),
  blobsPrefix: setting(text, "blobs.prefix", "", "What object keys in the bucket begin with."),
  blobsEndpoint: setting(url, "blobs.endpoint", "", "The endpoint of an S3-compatible store; Amazon's own when empty."),
  blobsRegion: setting(text, "blobs.region", "us-east-1", "The region of the bucket."),
  blobsAccessKey: setting(text, "blobs.access_key", "", "The access key id; the SDK's usual sources when empty."),
  blobsSecretKey: setting(secret, "blobs.secret_key", "", "The secret that belongs to `blobs.access_key`."),
  blobsPathStyle: setting(flag, "blobs.path_style", "true", "Whether the bucket stands in the path of a URL."),

  busUrl: setting(
    text,
    "bus.url",
    "",
    "The NATS server (`nats://host:4222`, several with commas between) over which collectors on one store talk; none when there is one collector.",
  ),
  busUser: setting(text, "bus.user", "", "The user at the NATS server."),
  busPassword: setting(secret, "bus.password", "", "The password at the NATS server; without a user, the token."),
  busPrefix: setting(
    text,
    "bus.prefix",
    "tributary",
    "What the subjects of this installation begin with at the NATS server.",
  ),

  retentionMs: setting(
    age,
    "retention.age",
    "off",
    "Runs that nothing arrived for in this time are deleted with their files, in workspaces for which nobody set it by the API.",
  ),
  retentionByWorkspaceMs: setting(
    agesByName,
    "retention.workspaces",
    "",
    'Ages for single workspaces, instead of `retention.age`; `"off"` keeps their runs.',
  ),

  watching: setting(
    choice("on", "off"),
    "watch.rules",
    "on",
    "Whether rules are watched; those that are built in only tell on the page until somebody arms them.",
  ),
  rules: setting(tablesByName, "rules", "", "Rules by name, see docs/rules.md."),
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
    "Hosts that webhooks and mail may reach though their address is private.",
  ),
  watchSecret: setting(
    secret,
    "watch.secret",
    "",
    "What webhooks are signed with, the same at every collector; one in the data folder when empty.",
  ),
  watchPage: setting(url, "watch.page", "", "Where people reach this server, for links in messages."),
  mailServer: setting(
    secret,
    "watch.mail_server",
    "",
    "The server that mail of rules goes to, `smtp://user:password@host:587` or `smtps://…`; none when empty.",
  ),
  mailFrom: setting(text, "watch.mail_from", "tributary@localhost", "The sender of such mail."),

  sqlTimeoutMs: setting(duration, "sql.timeout", "30s", "How long a user's SQL query may run."),
  sqlMemoryBytesMax: setting(bytes, "sql.memory", "1 GiB", "How much memory a user's SQL query may take."),
  sqlRowsMax: setting(count, "sql.rows", "1000000", "How many rows a user's SQL query may return."),

  logLevel: setting(
    choice("debug", "info", "warn", "error"),
    "log.level",
    "info",
    "The least important log line to write; `--verbose` means debug, `--quiet` means error.",
  ),
  logFormat: setting(
    choice("auto", "json", "text"),
    "log.format",
    "auto",
    "How log lines look; auto is text on a terminal and JSON elsewhere.",
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
