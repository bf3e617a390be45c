// How large bodies may be and what may be in records, whichever way they come.

import { defaultJsonLimits } from "#base/json/value.ts";
import type { Config } from "#config/settings.ts";
import type { DecodeLimits } from "#intake/input-kind.ts";
import type { BodyLimits } from "#server/http/body.ts";

export function toBodyLimits({ bodyBytesMax, bodyRatioMax }: Config): BodyLimits {
  return { bytesMax: bodyBytesMax, ratioMax: bodyRatioMax };
}

export function toDecodeLimits({ jsonDepthMax, lineBytesMax, otlpSteps }: Config): DecodeLimits {
  return { json: { ...defaultJsonLimits, depthMax: jsonDepthMax }, lineBytesMax, stepNames: otlpSteps };
}
