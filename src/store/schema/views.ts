import type { Dialect } from "./dialect.ts";
export function guestViews(_dialect: Dialect): string[] {
  return [];
}
