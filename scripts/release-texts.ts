// The texts of a release.

export interface PartsList {
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly licenses?: readonly {
      readonly license?: { readonly id?: string; readonly name?: string };
      readonly expression?: string;
    }[];
  }[];
}

export function toLicences({ components }: PartsList): string {
  const rows = components.map(({ name, version, licenses = [] }) => {
    const words = licenses.map((one) => one.expression ?? one.license?.id ?? one.license?.name ?? "").filter(Boolean);
    return `| ${name} | ${version} | ${words.join(", ") || "not stated"} |`;
  });
  return `# Licences of what Tributary needs to run\n\n| package | version | licence |\n| --- | --- | --- |\n${rows.join("\n")}\n`;
}

export interface Built {
  readonly archive: string;
  readonly sha256: string;
  readonly commit: string;
  readonly lock: string;
  readonly node: string;
  readonly startedOn: Date;
  readonly finishedOn: Date;
}

/** An in-toto statement with SLSA provenance, unsigned: the publisher signs it. */
export function toProvenance(built: Built): object {
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: built.archive, digest: { sha256: built.sha256 } }],
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "npm run release",
        externalParameters: {},
        resolvedDependencies: [
          { name: "source", digest: { gitCommit: built.commit } },
          { name: "package-lock.json", digest: { sha256: built.lock } },
        ],
      },
      runDetails: {
        builder: { id: `node ${built.node}` },
        metadata: { startedOn: built.startedOn.toISOString(), finishedOn: built.finishedOn.toISOString() },
      },
    },
  };
}

/** As `sha256sum --check` reads them. */
export function sumLines(sums: readonly (readonly [name: string, sum: string])[]): string {
  return sums.map(([name, sum]) => `${sum}  ${name}\n`).join("");
}
