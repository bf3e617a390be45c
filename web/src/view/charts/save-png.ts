// A panel's plot as an image file, on the paper it is drawn on and with its title.

import { inksOf } from "../../app/theme.ts";
import type { Theme } from "../../chart/colour.ts";
import { saveFile } from "../../part/save-file.ts";

export function savePng(host: HTMLElement | null, name: string, theme: Theme): void {
  const source = host?.querySelector("canvas");
  if (source === null || source === undefined) return;
  const headPx = 28 * devicePixelRatio;
  const image = document.createElement("canvas");
  image.width = source.width;
  image.height = source.height + headPx;
  const ctx = image.getContext("2d");
  if (ctx === null) return;
  ctx.fillStyle = inksOf(theme).paper;
  ctx.fillRect(0, 0, image.width, image.height);
  ctx.fillStyle = inksOf(theme).ink;
  ctx.font = `${13 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.fillText(name, 8 * devicePixelRatio, 18 * devicePixelRatio);
  ctx.drawImage(source, 0, headPx);
  image.toBlob((blob) => {
    if (blob !== null) saveFile(blob, `${name.replace(/[^\w.-]+/g, "_")}.png`);
  });
}
