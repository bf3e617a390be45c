// What `npm audit --json` said, in a sentence.

export interface AuditResult {
  readonly kind: "clean" | "holes" | "unknown";
  readonly sentence: string;
}

interface AuditReport {
  readonly statusCode?: number;
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string }>>;
}

export function judgeAudit(output: string): AuditResult {
  const { statusCode, vulnerabilities } = parseReport(output);
  if (vulnerabilities === undefined) {
    const why = statusCode === undefined ? "gave no answer" : `has no audits (it answered ${statusCode})`;
    return { kind: "unknown", sentence: `npm audit: the registry ${why}, so known holes were NOT looked for.` };
  }
  const holes = Object.entries(vulnerabilities).map(([name, { severity }]) => `${name} (${severity})`);
  if (holes.length === 0) return { kind: "clean", sentence: "npm audit: no known holes." };
  return { kind: "holes", sentence: `npm audit: known holes in ${holes.join(", ")}. See \`npm audit --omit=dev\`.` };
}

function parseReport(output: string): AuditReport {
  try {
    return JSON.parse(output) as AuditReport;
  } catch {
    // No network, or a proxy's own page.
    return {};
  }
}
