// docs/errors.md: every fault code, from the one table in src/model/fault.ts.

import { type FaultKind, faultKinds } from "#model/fault.ts";

const head = `# Errors

Input that cannot be understood is never dropped: it is kept as a *fault*, with its bytes, its reason and its place,
and its neighbours are unharmed. A fault spoils one **record**, the whole **message** it came in, or the rest of its
**stream**. Faults are shown on the run's Integrity page, by \`GET /api/v1/faults\`, and in the \`faults\` table of
\`tributary sql\`.

This page is written from \`src/model/fault.ts\` by \`node scripts/write-docs.ts\`.

| code | spoils | what happened | what to do |
| --- | --- | --- | --- |
`;

export function toErrorsPage(): string {
  const rows = Object.entries<FaultKind>(faultKinds)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, { blast, means, hint }]) => `| \`${code}\` | ${blast} | ${toCell(means)} | ${toCell(hint)} |\n`);
  return head + rows.join("");
}

function toCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
