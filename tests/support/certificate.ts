// A certificate for 127.0.0.1 that is signed by itself. Only where `openssl` is found.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "./folder.ts";
import { findTool } from "./tools.ts";

export const openssl = findTool("openssl");

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

let made: Certificate | null = null;

export function certificate(): Certificate {
  if (made !== null) return made;
  const folder = makeFolder();
  const [key, cert] = [join(folder, "key"), join(folder, "cert")];
  const names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const how = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  execFileSync(openssl as string, ["req", ...how, ...names, "-keyout", key, "-out", cert], { stdio: "ignore" });
  made = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  return made;
}
