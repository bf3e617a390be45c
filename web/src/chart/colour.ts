// Colours that mean the same thing forever: a name always hashes to the same place of a palette that people
// with colour-blindness can tell apart (Okabe–Ito, then Tol's muted set). Light and dark pages use their own shades.

const light = toColours(`
  #0072b2 #d55e00 #009e73 #cc79a7 #9a6700 #56a0d3 #882255 #44aa99
  #6b5bd2 #aa4499 #117733 #c2416b #4d7a00 #0b7285 #8c564b #5c6b7a`);
const dark = toColours(`
  #4ea8de #ff8c42 #2fc79a #e8a0c8 #e0b040 #88ccee #d46a9c #66d4c4
  #a99bff #d98bd0 #5fc27e #ff7b9c #a8d05a #4cc4d8 #c9a08f #a9b8c8`);

function toColours(text: string): string[] {
  return text.trim().split(/\s+/);
}

export type Theme = "light" | "dark";

/** FNV-1a, 32 bits: small, stable across versions and platforms. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  // The low bits of FNV of short texts are poor, so the high half is folded in.
  return (hash ^ (hash >>> 15)) >>> 0;
}

export function paletteColour(index: number, theme: Theme): string {
  const palette = theme === "dark" ? dark : light;
  return palette[index % palette.length] ?? palette[0] ?? "#888888";
}

/**
 * One colour per name: its hashed place in the palette if that is free, else the next free one; no two alike while the
 * palette lasts. `places` remembers, so that names which come later change nothing.
 */
export function assignColour(places: Map<string, number>, name: string, theme: Theme): string {
  let place = places.get(name);
  if (place === undefined) {
    const taken = new Set(places.values());
    place = hashText(name) % light.length;
    if (taken.size < light.length) while (taken.has(place)) place = (place + 1) % light.length;
    places.set(name, place);
  }
  return paletteColour(place, theme);
}

/** Places of the palette, each the farthest from all before it, in the light shades and the dark ones. */
const distinct = [0, 1, 12, 9, 7, 14, 8, 6, 4, 15, 11];

/**
 * The colour of the n-th thing on screen. Unlike a hashed colour it says nothing about the name, but the first ones are
 * as far apart as the palette allows, and no two of a hundred are the same.
 */
export function distinctColour(place: number, theme: Theme): string {
  const known = distinct[place];
  if (known !== undefined) return paletteColour(known, theme);
  // Golden-angle steps never meet a hue again; the lightness changes with each so that neighbours differ in that too.
  const hue = (place * 137.508 + 20) % 360;
  const levels = theme === "dark" ? [68, 58, 78] : [40, 52, 32];
  return hslToHex(hue, 62, levels[place % 3] ?? 50);
}

function hslToHex(hue: number, saturation: number, lightness: number): string {
  const light = lightness / 100;
  const reach = (saturation / 100) * Math.min(light, 1 - light);
  const channels = [0, 8, 4].map((n) => {
    const k = (n + hue / 30) % 12;
    return 255 * (light - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  });
  return toHex(channels);
}

/** White or ink, whichever reads better on the colour (WCAG contrast). */
export function inkOn(colour: string): "#ffffff" | "#10151c" {
  const luminance = relativeLuminance(colour);
  return (luminance + 0.05) / 0.055 > 1.05 / (luminance + 0.05) ? "#10151c" : "#ffffff";
}

/** A sequential scale from weak to strong, `t` in 0…1, for heat maps; monotone in lightness. */
export function heatColour(t: number, theme: Theme): string {
  const stops = theme === "dark" ? darkHeat : lightHeat;
  const place = Math.max(0, Math.min(1, t)) * (stops.length - 1);
  const low = Math.floor(place);
  const from = stops[low] ?? [0, 0, 0];
  const to = stops[Math.min(stops.length - 1, low + 1)] ?? from;
  return toHex(from.map((channel, i) => channel + ((to[i] ?? 0) - channel) * (place - low)));
}

const lightHeat = toColours("#edf4fc #a0caeb #4896d2 #125ca0 #0a2c60").map(channelsOf);
const darkHeat = toColours("#162232 #1c4a7a #2e7abe #74b4e8 #def0ff").map(channelsOf);

/** Red, green and blue, 0…255. */
function channelsOf(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

function toHex(channels: readonly number[]): string {
  return `#${channels.map((channel) => Math.round(channel).toString(16).padStart(2, "0")).join("")}`;
}

function relativeLuminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(colour).map((value) => {
    const channel = value / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
