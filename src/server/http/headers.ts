// Headers that every answer carries. The application loads nothing from elsewhere and is shown in no frame; what a user
// stored is handed out as a download that a browser will not run.

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const commonHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** For bytes that came from a user: never shown, never run. */
export function toAttachmentHeaders(name: string): Record<string, string> {
  // Quotes, slashes and control characters would let a name end the parameter or point somewhere else.
  const plain = name.replace(/[^\w.-]+/g, "_").slice(0, 200) || "download";
  const full = encodeURIComponent(toWellFormed(name)).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  return {
    "content-disposition": `attachment; filename="${plain}"; filename*=UTF-8''${full}`,
    "content-security-policy": "sandbox; default-src 'none'",
  };
}

function toWellFormed(text: string): string {
  return text.toWellFormed();
}
