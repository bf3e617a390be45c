// An image or a text file of a run, shown in place. The bytes come as an attachment, which no browser runs; an image goes
// into an img element with a type that we choose, a text is shown as text.

import { useEffect, useState } from "react";
import { urlOf } from "../../data/client.ts";
import { Loading, Problem } from "../../part/notice.tsx";

/** SVG is left out on purpose: it is a document, not a picture. */
const imageTypes: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};
const textEnds = /\.(txt|log|md|csv|tsv|json|jsonl|ya?ml|toml|ini|cfg|py|ts|js|sh)$/i;
const textBytesMax = 256 * 1024;
const imageBytesMax = 32 * 1024 * 1024;

export function kindOfFile(name: string, sizeBytes: number | null): "image" | "text" | null {
  const end = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  if (end in imageTypes) return sizeBytes !== null && sizeBytes > imageBytesMax ? null : "image";
  return textEnds.test(name) ? "text" : null;
}

type Shown =
  | { readonly kind: "image"; readonly url: string }
  | { readonly kind: "text"; readonly text: string; readonly cut: boolean };

export function FilePreview({ run, name }: { readonly run: string; readonly name: string }) {
  const [shown, setShown] = useState<Shown | null>(null);
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    let url = "";
    readFile(run, name, stop.signal)
      .then((file) => {
        if (file.kind === "image") url = file.url;
        setShown(file);
      })
      .catch((failure: unknown) => {
        if (!stop.signal.aborted) setError(failure as Error);
      });
    return () => {
      stop.abort();
      if (url !== "") URL.revokeObjectURL(url);
    };
  }, [run, name]);
  if (error !== null) return <Problem error={error} />;
  if (shown === null) return <Loading rows={2} />;
  if (shown.kind === "image") return <img className="file-image" src={shown.url} alt={name} />;
  return (
    <>
      <pre className="file-text">{shown.text}</pre>
      {shown.cut ? <p className="muted">The first 256 KiB; download it to see the rest.</p> : null}
    </>
  );
}

async function readFile(run: string, name: string, signal: AbortSignal): Promise<Shown> {
  const response = await fetch(urlOf("artifact", { params: { id: run, name } }), { signal });
  if (!response.ok) throw new Error(`The server answered ${response.status} ${response.statusText}.`);
  const end = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  const type = imageTypes[end];
  if (type !== undefined) {
    return { kind: "image", url: URL.createObjectURL(new Blob([await response.arrayBuffer()], { type })) };
  }
  const { bytes, cut } = await readStart(response, textBytesMax);
  return { kind: "text", text: new TextDecoder().decode(bytes), cut };
}

/** No more of a long file is fetched than is shown. */
async function readStart(response: Response, bytesMax: number): Promise<{ bytes: Uint8Array; cut: boolean }> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  while (reader !== undefined && length <= bytesMax) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    length += value.length;
  }
  await reader?.cancel();
  const bytes = new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
  return { bytes: bytes.subarray(0, bytesMax), cut: bytes.length > bytesMax };
}
