// Tensors → snapshot records and blobs. Statistics always; whole tensors in mode `full`, and in mode
// `sampled` when the dice say so, once for all tensors of one capture. One file per span and kind.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { formatFloat, quote } from "#emit/json-text.ts";
import { makeFolder } from "#emit/make-folder.ts";
import { formatSnapshot, type SnapshotMode } from "#wire/cirron/encode.ts";
import { formatNs, nowNs } from "./clock.ts";
import { spanIds } from "./ids.ts";
import type { Recorder } from "./recorder.ts";
import { decodeSafetensors, encodeSafetensors, type StoredTensor } from "./safetensors.ts";
import type { Span } from "./span.ts";
import { type KnownTensor, type TensorLike, type TensorStats, toKnownTensor, toStats } from "./tensor.ts";

export type TensorKind = "weights" | "gradients";

/** A trainable tensor and, when there is one, its gradient of the same shape. */
export type Parameter = TensorLike & { readonly grad?: TensorLike | null };

/** Anything that names its parameters: a plain record, a list of pairs, or an object with `namedParameters()`. */
export type Model =
  | Readonly<Record<string, Parameter>>
  | Iterable<readonly [string, Parameter]>
  | { namedParameters(): Iterable<readonly [string, Parameter]> };

export interface SnapshotSettings {
  readonly mode: SnapshotMode;
  readonly sampleRate: number;
  readonly snapshotsPath: string;
  readonly random: () => number;
}

/** Called when a blob file is complete. */
export type BlobListener = (path: string, key: string) => void;

export class Snapshots {
  private readonly recorder: Recorder;
  private readonly settings: SnapshotSettings;
  private readonly onBlob: BlobListener;

  constructor(recorder: Recorder, settings: SnapshotSettings, onBlob: BlobListener) {
    this.recorder = recorder;
    this.settings = settings;
    this.onBlob = onBlob;
  }

  /** Records the model's weights, and the gradients it has, on `span`. */
  captureModel(span: Span, model: Model): void {
    const weights: [string, TensorLike][] = [];
    const gradients: [string, TensorLike][] = [];
    for (const [name, parameter] of toEntries(model)) {
      weights.push([name, parameter]);
      const { grad } = parameter;
      if (grad !== null && grad !== undefined) gradients.push([`${name}.grad`, grad]);
    }
    const withBlob = this.rolls();
    this.capture(span, "weights", weights, withBlob);
    this.capture(span, "gradients", gradients, withBlob);
  }

  /** Whether this capture keeps whole tensors. */
  rolls(): boolean {
    const { mode, sampleRate, random } = this.settings;
    return mode === "full" || (mode === "sampled" && random() < sampleRate);
  }

  capture(span: Span, kind: TensorKind, named: Iterable<readonly [string, TensorLike]>, withBlob: boolean): void {
    const tensors: KnownTensor[] = [];
    for (const [name, tensor] of named) {
      const known = toKnownTensor(name, tensor);
      if (known !== undefined) tensors.push(known);
    }
    if (tensors.length === 0) return;
    const uri = withBlob ? this.writeBlob(span, kind, tensors) : undefined;
    const ts = formatNs(nowNs());
    for (const tensor of tensors) {
      const stats = toStats(tensor);
      this.recorder.pushSnapshot(
        formatSnapshot({
          id: spanIds.format(spanIds.next()),
          spanId: span.id,
          nameJson: quote(tensor.name),
          shape: tensor.shape,
          dtype: tensor.dtype,
          mode: uri === undefined ? "stats" : this.settings.mode,
          statsJson: formatStats(stats),
          blobUriJson: uri === undefined ? "null" : JSON.stringify(uri),
          tsNs: ts,
          attrsJson: stats.nonFinite === 0 ? "{}" : `{"non_finite":${stats.nonFinite}}`,
        }),
      );
    }
  }

  /** Undefined when the disk would not take it: the records then carry statistics only. */
  private writeBlob(span: Span, kind: TensorKind, tensors: readonly KnownTensor[]): string | undefined {
    const folder = `${this.settings.snapshotsPath}/${span.id}`;
    const path = `${folder}/${kind}.safetensors`;
    try {
      makeFolder(folder);
      writeFileSync(`${path}.tmp`, encodeSafetensors(mergeEarlier(path, tensors)));
      renameSync(`${path}.tmp`, path);
      this.onBlob(path, `snapshots/${span.id}/${kind}.safetensors`);
      return pathToFileURL(path).href;
    } catch {
      return undefined;
    }
  }
}

/** A second capture on one span adds to its file; the newer tensor of a name wins. */
function mergeEarlier(path: string, tensors: readonly KnownTensor[]): StoredTensor[] {
  const merged = new Map<string, StoredTensor>();
  try {
    for (const tensor of decodeSafetensors(readFileSync(path))) merged.set(tensor.name, tensor);
  } catch {
    // Nothing there yet.
  }
  for (const tensor of tensors) merged.set(tensor.name, tensor);
  return [...merged.values()];
}

function toEntries(model: Model): Iterable<readonly [string, Parameter]> {
  if (typeof (model as { namedParameters?: unknown }).namedParameters === "function")
    return (model as { namedParameters(): Iterable<readonly [string, Parameter]> }).namedParameters();
  if (Symbol.iterator in model) return model as Iterable<readonly [string, Parameter]>;
  return Object.entries(model as Record<string, Parameter>);
}

function formatStats(stats: TensorStats): string {
  const bins = Array.from(stats.bins, formatFloat).join(",");
  const counts = stats.counts.join(",");
  return `{"mean":${formatFloat(stats.mean)},"std":${formatFloat(stats.std)},"min":${formatFloat(stats.min)},"max":${formatFloat(stats.max)},"norm":${formatFloat(stats.norm)},"histogram":{"bins":[${bins}],"counts":[${counts}]}}`;
}
