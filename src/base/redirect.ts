/** Where a redirect leads; null for another host, or from HTTPS to HTTP, which must not see the headers and their keys. */
export function toTarget(url: string, location: string): string | null {
  const from = new URL(url);
  const target = URL.parse(location, url);
  if (target?.host !== from.host || (from.protocol === "https:" && target.protocol !== "https:")) return null;
  return target.href;
}
