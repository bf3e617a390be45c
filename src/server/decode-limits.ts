// What may be in records, whichever way they come.

import { defaultJsonLimits } from "#base/json/value.ts";
import type { Config } from "#config/settings.ts";
import type { DecodeLimits } from "#intake/input-kind.ts";

export function toDecodeLimits({ jsonDepthMax, lineBytesMax, otlpSteps }: Config): DecodeLimits {
  return { json: { ...defaultJsonLimits, depthMax: jsonDepthMax }, lineBytesMax, stepNames: otlpSteps };
}
