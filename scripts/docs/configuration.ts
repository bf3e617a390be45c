// docs/configuration.md: every setting, from the one table in src/config/settings.ts.

import { type Setting, settings, toEnvName } from "#config/settings.ts";

const head = `# Configuration

Tributary needs no configuration. A flag overrides an environment variable, which overrides \`tributary.toml\` in the working
directory (for another file, use \`--config FILE\` or \`TRIBUTARY_CONFIG\`). A mistyped key or a bad value stops the start with
a message that names the file, the key, what is allowed, and the nearest existing key.

\`\`\`toml
data = "/var/lib/tributary"

[http]
listen = "0.0.0.0:7077"
hosts = ["tributary.example.org"]

[retention]
age = "365d"
workspaces = { scratch = "14d" }
\`\`\`

Sizes are bytes or text such as \`"64 MiB"\` (KiB, MiB, GiB, TiB, and KB, MB, GB, TB by thousands). Times are text such as
\`"500ms"\`, \`"10s"\`, \`"10m"\`, \`"24h"\`, \`"30d"\`. In a variable or a flag, separate the items of a list by commas.

\`npm run docs\` generates this page from \`src/config/settings.ts\`.
`;

export function toConfigurationPage(): string {
  const sections = Map.groupBy(Object.values<Setting<unknown>>(settings), ({ key }) =>
    key.includes(".") ? (key.split(".")[0] ?? "") : "",
  );
  return head + Array.from(sections, ([name, rows]) => toSection(name, rows)).join("");
}

function toSection(name: string, rows: readonly Setting<unknown>[]): string {
  const title = name === "" ? "General" : `\`[${name}]\``;
  const lines = rows.map((row) => `| ${toCells(row).join(" | ")} |\n`);
  return `\n## ${title}\n\n| key | what it sets | value | default | flag, variable |\n| --- | --- | --- | --- | --- |\n${lines.join("")}`;
}

function toCells(row: Setting<unknown>): string[] {
  const names = [...(row.flag ? [`\`${row.flag}\``] : []), `\`${toEnvName(row)}\``].join(", ");
  const fallback = row.default === "" ? "none" : `\`${row.default}\``;
  return [`\`${row.key}\``, row.doc, row.kind.allowed.replaceAll("|", "\\|"), fallback, names];
}
