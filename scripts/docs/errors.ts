// docs/errors.md: every fault code, from the one table in src/model/fault.ts, and every code of a refused request, from
// src/api/refusal-kinds.ts.

import { type RefusalKind, refusalKinds } from "#api/refusal-kinds.ts";
import { type FaultKind, faultKinds } from "#model/fault.ts";

const head = `# Errors

Input that cannot be understood is never dropped: it is kept as a *fault*, with its bytes, its reason and its place,
and its neighbours are unharmed. A fault spoils one **record**, the whole **message** it came in, or the rest of its
**stream**. Faults are shown on the run's Integrity page, by \`GET /api/v1/faults\`, and in the \`faults\` table of
\`tributary sql\`.

This page is written from \`src/model/fault.ts\` and \`src/api/refusal-kinds.ts\` by \`npm run docs\`.

## Faults

| code | spoils | what happened | what to do |
| --- | --- | --- | --- |
`;

const answersHead = `
## Answers

A request that is refused is answered with \`{code, message, hint, at}\`: a stable word for programs, a sentence, what to
do about it, and the place (\`path\`, \`query\`, \`body\`, \`header\`, \`filter\` or \`sql\`, with the name or the character).
Input that is refused as a whole has the code of the fault that is kept of it: 413 for \`body_too_large\` and
\`body_ratio\`, else 400.

| code | status | when |
| --- | ---: | --- |
`;

export function toErrorsPage(): string {
  const rows = Object.entries<FaultKind>(faultKinds)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, { blast, means, hint }]) => `| \`${code}\` | ${blast} | ${toCell(means)} | ${toCell(hint)} |\n`);
  return head + rows.join("") + answersHead + toAnswerRows().join("");
}

function toAnswerRows(): string[] {
  return Object.entries<RefusalKind>(refusalKinds)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, { status, means }]) => `| \`${code}\` | ${status} | ${toCell(means)} |\n`);
}

function toCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
