// Headers of every answer. The application loads nothing from elsewhere and is shown in no frame; whatever a user
// stored is handed out as a download that a browser will not run.

import { createHash } from "node:crypto";

function toPolicy(styles: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    ["style-src 'self'", ...styles.map((hash) => `'sha256-${hash}'`)].join(" "),
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

export const commonHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": toPolicy([]),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** For a page with a style of its own: exactly that text is allowed, nothing else inline. */
export function toPageHeaders(html: string): Record<string, string> {
  const styles = [...html.matchAll(/<style>([\s\S]*?)<\/style>/g)].map((found) => found[1] ?? "");
  const hashes = styles.map((text) => createHash("sha256").update(text).digest("base64"));
  return { "content-security-policy": toPolicy(hashes) };
}

/** For bytes that came from a user: never shown, never run. */
export function toAttachmentHeaders(name: string): Record<string, string> {
  // Quotes, slashes and control characters would let a name end the parameter or point somewhere else.
  const plain = name.replace(/[^\w.-]+/g, "_").slice(0, 200) || "download";
  const full = encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  return {
    "content-disposition": `attachment; filename="${plain}"; filename*=UTF-8''${full}`,
    "content-security-policy": "sandbox; default-src 'none'",
  };
}
