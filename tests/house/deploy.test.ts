import { existsSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { readConfig } from "#config/read-config.ts";
import { settings, toEnvName } from "#config/settings.ts";
import { createMetrics } from "#server/metrics.ts";
import { renderTemplate } from "../support/helm.ts";
import { readText, root } from "./files.ts";

const variables = new Set(Object.values(settings).map((setting) => toEnvName(setting)));
const keys = new Set<string>(Object.values(settings).map((setting) => setting.key));

/** A YAML text that must have no errors and no warnings. */
function parseStrict(text: string): Record<string, unknown>[] {
  return parseAllDocuments(text, { merge: true, strict: true }).map((document) => {
    expect([...document.errors, ...document.warnings]).toEqual([]);
    return document.toJS() as Record<string, unknown>;
  });
}

interface Service {
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>> | readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: Readonly<Record<string, { readonly ipv4_address: string }>>;
}

describe("the compose file", () => {
  const text = readText("deploy/compose.yaml");
  const [compose] = parseStrict(text) as [{ services: Record<string, Service>; volumes: Record<string, unknown> }];
  const { services } = compose;
  const example = Object.fromEntries(
    readText("deploy/example.env")
      .split("\n")
      .flatMap((line) => (/^\w+=/.test(line) ? [line.split("=", 2) as [string, string]] : [])),
  );
  const fill = (value: string) =>
    value.replaceAll(/\$\{(\w+)(?::-([^}]*)|:\?)?\}/g, (_all, name: string, other?: string) => {
      const found = example[name] ?? other;
      if (found === undefined) throw new Error(`${name} is not in example.env`);
      // As its first line says: the server refuses them as they are.
      return found.replaceAll("change-me", "changed-0");
    });

  it("gives collectors settings that there are, with values that they take", () => {
    for (const name of ["collector-1", "collector-2"]) {
      const environment = services[name]?.environment ?? {};
      expect(Object.keys(environment).filter((variable) => !variables.has(variable))).toEqual([]);
      const env = Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, fill(value)]));
      expect(readConfig({ flags: {}, env })).toMatchObject({ storeUrl: "http://clickhouse:8123", blobsKind: "s3" });
    }
  });

  it("gives collectors a file system that they cannot write to, and no privileges", () => {
    for (const name of ["collector-1", "collector-2"])
      expect([services[name]?.read_only, services[name]?.cap_drop, services[name]?.security_opt]).toEqual([
        true,
        ["ALL"],
        ["no-new-privileges:true"],
      ]);
  });

  it("names in its example every variable that it needs", () => {
    const needed = new Set(Array.from(text.matchAll(/\$\{(\w+):\?\}/g), (match) => match[1]));
    expect([...needed].filter((name) => name !== undefined && example[name] === undefined)).toEqual([]);
  });

  it("gives every collector a journal of its own, and mounts only what is there", () => {
    const mounted = Object.values(services).flatMap(({ volumes = [] }) =>
      volumes.map((volume) => volume.split(":")[0]),
    );
    const named = mounted.filter((source) => !source?.startsWith("./"));
    expect(new Set(named).size).toBe(named.length);
    expect(named.filter((source) => !Object.hasOwn(compose.volumes, source ?? ""))).toEqual([]);
    const files = mounted.filter((source) => source?.startsWith("./"));
    expect(files.filter((source) => !existsSync(`${root}deploy/${source}`))).toEqual([]);
  });

  it("waits only for services that it has, and lets workers in", () => {
    for (const { depends_on: waits = [] } of Object.values(services)) {
      const names = Array.isArray(waits) ? waits : Object.keys(waits);
      expect(names.filter((name) => !Object.hasOwn(services, name))).toEqual([]);
    }
    expect(services["balancer"]?.ports).toEqual(["7077:7077", "9999:9999"]);
    const balancer = readText("deploy/haproxy.cfg");
    for (const name of ["collector-1:7077", "collector-1:9999", "collector-2:7077", "collector-2:9999"])
      expect(balancer).toContain(name);
  });

  it("trusts the balancer alone, which passes on no address that a client made up", () => {
    const { TRIBUTARY_HTTP_TRUSTED_PROXIES: trusted = "" } = services["collector-1"]?.environment ?? {};
    expect(fill(trusted)).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
    const { default: network } = services["balancer"]?.networks ?? {};
    expect(network?.ipv4_address).toBe(trusted);
    const balancer = readText("deploy/haproxy.cfg");
    expect(balancer).toContain("set-header X-Forwarded-For %[src]");
    expect(balancer).not.toMatch(/option forwardfor/);
  });

  it("takes images of others by a version, never by a name that moves", () => {
    for (const { image = "" } of Object.values(services)) {
      const tag = image.startsWith("tributary:") ? "1" : (fill(image).split(":").at(-1) ?? "");
      expect([image, /\d/.test(tag)]).toEqual([image, true]);
    }
  });

  it("names ClickHouse users that the server's own settings have", () => {
    const users = readText("deploy/clickhouse/users.xml");
    const { TRIBUTARY_STORE_USER: user, TRIBUTARY_STORE_GUEST_USER: guest } =
      services["collector-1"]?.environment ?? {};
    for (const name of [user, guest]) expect(users).toContain(`<${name}>`);
  });
});

describe("the systemd unit", () => {
  const text = readText("deploy/tributary.service");
  const environment = Object.fromEntries(
    (/^Environment=(.*)$/m.exec(text)?.[1] ?? "").split(" ").map((one) => one.split("=", 2) as [string, string]),
  );
  const { TRIBUTARY_CONFIG: file, ...others } = environment;

  it("sets settings that there are, and its first lines make the file that it names", () => {
    expect(readConfig({ flags: {}, env: others })).toMatchObject({ logFormat: "json" });
    const made = /^# +mkdir -p (\S+) && echo '(.*)' > (\S+)$/m.exec(text);
    expect([file, text.includes(`--config ${file} `)]).toEqual([made?.[3], true]);
    expect(made?.[3]?.startsWith(`${made[1]}/`)).toBe(true);
    expect(made?.[2]).toBe(`data = "${others["TRIBUTARY_DATA"]}"`);
  });
});

describe("the image", () => {
  it("sets settings that there are, and copies what there is", () => {
    const text = readText("deploy/Dockerfile");
    const named = Array.from(text.matchAll(/\b(TRIBUTARY_\w+)=/g), (match) => match[1] ?? "");
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !variables.has(name))).toEqual([]);
    const copied = Array.from(text.matchAll(/^COPY (?!--from)([^\n]+)/gm), (match) => (match[1] ?? "").split(" "));
    for (const file of copied.flatMap((names) => names.slice(0, -1))) expect(existsSync(`${root}${file}`)).toBe(true);
  });
});

describe("the Helm chart", () => {
  const folder = "deploy/helm/tributary";
  const values = parse(readText(`${folder}/values.yaml`)) as Values;
  const chart = parse(readText(`${folder}/Chart.yaml`)) as { appVersion: string };
  const render = (more: Partial<Values> = {}): Manifest[] => {
    const scope = {
      Values: { ...values, ...more },
      Release: { Name: "ours" },
      Chart: { AppVersion: chart.appVersion },
    };
    return readdirSync(`${root}${folder}/templates`).flatMap(
      (name) => parseStrict(renderTemplate(readText(`${folder}/templates/${name}`), scope)) as unknown as Manifest[],
    );
  };
  const find = (manifests: readonly Manifest[], kind: string): Manifest => {
    const found = manifests.find((manifest) => manifest.kind === kind);
    if (found === undefined) throw new Error(`no ${kind}`);
    return found;
  };

  it("has the version of the program", () => {
    expect(chart.appVersion).toBe((JSON.parse(readText("package.json")) as { version: string }).version);
  });

  it("names settings that there are, and writes a file that the program reads", () => {
    expect(Object.keys(values.settings).filter((key) => !keys.has(key))).toEqual([]);
    expect(Object.keys(values.secret.keys).filter((variable) => !variables.has(variable))).toEqual([]);
    const toml = find(render(), "ConfigMap").data?.["tributary.toml"] ?? "";
    for (const [key, value] of Object.entries(values.settings)) expect(toml).toContain(`${key} = "${value}"`);
    const env = Object.fromEntries(Object.entries(values.settings).map(([key, value]) => [envOf(key), String(value)]));
    expect(readConfig({ flags: {}, env })).toMatchObject({ busUrl: "nats://nats:4222" });
  });

  it("keeps journals, starts as nobody special, and asks for what the server serves", () => {
    const { spec } = find(render(), "StatefulSet") as Manifest & { spec: StatefulSpec };
    const [container] = spec.template.spec.containers;
    expect(spec.template.spec.enableServiceLinks).toBe(false);
    expect(spec.volumeClaimTemplates[0]?.metadata.name).toBe("data");
    expect(spec.persistentVolumeClaimRetentionPolicy).toEqual({ whenDeleted: "Retain", whenScaled: "Retain" });
    expect(container?.volumeMounts.find(({ name }) => name === "data")?.mountPath).toBe("/data");
    expect(container?.resources).toEqual(values.resources);
    expect(container?.image).toBe(`tributary:${chart.appVersion}`);
    expect(container?.env.map(({ name }) => name)).toContain("TRIBUTARY_AUTH_ADMIN_KEY");
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"] as const)
      expect(container?.[probe].httpGet).toEqual({ path: "/healthz", port: "http" });
    expect(container?.ports).toEqual([
      { name: "http", containerPort: 7077 },
      { name: "xtrack", containerPort: 9999 },
    ]);
  });

  it("leaves nothing of a template in what it renders", () => {
    expect(JSON.stringify(render())).not.toMatch(/[{]\s*[{]|\.Release|\.Values|\[object/);
  });

  it("has an ingress, a network policy, an autoscaler and a monitor when they are wanted", () => {
    const kinds = (manifests: readonly Manifest[]) => manifests.flatMap((manifest) => manifest?.kind ?? []);
    const optional = ["Ingress", "NetworkPolicy", "HorizontalPodAutoscaler", "ServiceMonitor"];
    expect(kinds(render()).filter((kind) => optional.includes(kind))).toEqual([]);
    const wanted = Object.fromEntries(
      (["ingress", "networkPolicy", "autoscaling", "serviceMonitor"] as const).map((name) => [
        name,
        { ...values[name], enabled: true },
      ]),
    );
    const manifests = render(wanted);
    for (const kind of optional) expect(kinds(manifests)).toContain(kind);
    expect(JSON.stringify(manifests)).not.toMatch(/[{]\s*[{]|\.Release|\.Values|\[object/);
    const monitored = find(manifests, "ServiceMonitor") as Manifest & {
      spec: { selector: { matchLabels: Record<string, string> } };
    };
    const labels = manifests.flatMap(({ kind, metadata }) => (kind === "Service" ? [metadata.labels ?? {}] : []));
    const isMonitored = (own: Readonly<Record<string, string>>) =>
      Object.entries(monitored.spec.selector.matchLabels).every(([name, value]) => own[name] === value);
    expect(labels.filter(isMonitored)).toHaveLength(1);
  });

  it("starts pods anew when their settings change, and none without its secrets", () => {
    const sumOf = (manifests: readonly Manifest[]) => {
      const { spec } = find(manifests, "StatefulSet") as Manifest & { spec: StatefulSpec };
      return spec.template.metadata.annotations["checksum/settings"];
    };
    expect(sumOf(render())).toMatch(/^[0-9a-f]{64}$/);
    const changed = { settings: { ...values.settings, "store.user": "another" } };
    expect(sumOf(render(changed))).not.toBe(sumOf(render()));
    expect(JSON.stringify(find(render(), "StatefulSet"))).not.toContain('"optional":true');
  });

  it("offers workers a load balancer of their own when it is wanted", () => {
    const names = (manifests: readonly Manifest[]) => manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names(render())).not.toContain("Service ours-xtrack");
    const more = { xtrackLoadBalancer: { enabled: true, annotations: { a: "b" } } };
    expect(names(render(more))).toContain("Service ours-xtrack");
  });
});

describe("rules and dashboard", () => {
  it("name metrics that the server has", async () => {
    const served = new Set((await createMetrics().all().getMetricsAsJSON()).map(({ name }) => name));
    // These are read of what the server has opened.
    served.add("tributary_unfinished_bytes").add("tributary_engine_restarts_total");
    for (const file of ["alerts.yaml", "grafana-dashboard.json"]) {
      const text = readText(`deploy/monitoring/${file}`);
      const named = Array.from(text.matchAll(/\b(?:tributary|process)_[a-z_]+/g), ([name]) => name);
      expect(named.length).toBeGreaterThan(5);
      expect(named.filter((name) => !served.has(name.replace(/_(bucket|count|sum)$/, "")))).toEqual([]);
    }
  });

  it("are files that Prometheus and Grafana can read", () => {
    const [rules] = parseStrict(readText("deploy/monitoring/alerts.yaml")) as [
      { groups: { rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[] },
    ];
    for (const { alert, expr, annotations } of rules.groups.flatMap((group) => group.rules))
      expect([alert, expr.length > 0, Object.keys(annotations)]).toEqual([alert, true, ["summary", "action"]]);
    const { panels } = JSON.parse(readText("deploy/monitoring/grafana-dashboard.json")) as {
      panels: { id: number; targets: unknown[] }[];
    };
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});

function envOf(key: string): string {
  const setting = Object.values(settings).find((one) => one.key === key);
  return setting === undefined ? key : toEnvName(setting);
}

interface Values {
  readonly ingress: object;
  readonly networkPolicy: object;
  readonly autoscaling: object;
  readonly serviceMonitor: object;
  readonly settings: Readonly<Record<string, string>>;
  readonly secret: { readonly keys: Readonly<Record<string, string>> };
  readonly resources: unknown;
  readonly xtrackLoadBalancer: { readonly enabled: boolean; readonly annotations: Readonly<Record<string, string>> };
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
}

interface Probe {
  readonly httpGet: unknown;
}

interface StatefulSpec {
  readonly persistentVolumeClaimRetentionPolicy: unknown;
  readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[];
  readonly template: {
    readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
    readonly spec: {
      readonly enableServiceLinks: boolean;
      readonly containers: readonly {
        readonly image: string;
        readonly env: readonly { readonly name: string }[];
        readonly ports: unknown;
        readonly resources: unknown;
        readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
        readonly startupProbe: Probe;
        readonly livenessProbe: Probe;
        readonly readinessProbe: Probe;
      }[];
    };
  };
}
