// A small S3 server for tests: the few calls our client makes, over real HTTP, with objects in memory.

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface S3Server {
  readonly url: string;
  readonly objects: Map<string, Buffer>;
  /** Answers this many of the next requests with 503. */
  failNext(count: number): void;
  /** How many requests came, by method. */
  readonly requests: string[];
  close(): Promise<void>;
}

const etagOf = (bytes: Buffer): string => `"${createHash("md5").update(bytes).digest("hex")}"`;

/** Has any bucket that is asked for, or only the one that is named. */
export async function startS3(bucket?: string): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Map<number, Buffer>>();
  const requests: string[] = [];
  let failures = 0;
  let serial = 0;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", "http://s3");
    const key = decodeURIComponent(url.pathname.slice(1));
    const body = await bodyOf(request);
    requests.push(`${request.method} ${url.search === "" ? key : `${key}${url.search}`}`);
    if (failures > 0) {
      failures--;
      response.writeHead(503).end();
      return;
    }
    const send = (status: number, text = "", headers: Record<string, string> = {}): void => {
      response.writeHead(status, headers).end(request.method === "HEAD" ? undefined : text);
    };
    if (bucket !== undefined && key.split("/", 1)[0] !== bucket) {
      send(404, "<Error><Code>NoSuchBucket</Code><Message>there is no such bucket</Message></Error>");
      return;
    }
    const missing = (): void => send(404, "<Error><Code>NoSuchKey</Code></Error>");
    const store = (bytes: Buffer): void => {
      if (request.headers["if-none-match"] === "*" && objects.has(key)) {
        send(412, "<Error><Code>PreconditionFailed</Code></Error>");
      } else {
        objects.set(key, bytes);
        send(200, "<Result></Result>", { etag: etagOf(bytes) });
      }
    };
    const sourceBytes = (): Buffer | undefined => {
      const source = objects.get(decodeURIComponent(String(request.headers["x-amz-copy-source"])));
      const range = /bytes=(\d+)-(\d+)/.exec(String(request.headers["x-amz-copy-source-range"] ?? ""));
      return range === null ? source : source?.subarray(Number(range[1]), Number(range[2]) + 1);
    };
    const uploadId = url.searchParams.get("uploadId");
    const upload = uploadId === null ? undefined : uploads.get(uploadId);
    if (request.method === "POST" && url.searchParams.has("uploads")) {
      const id = `upload-${serial++}`;
      uploads.set(id, new Map());
      send(200, `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
    } else if (request.method === "PUT" && upload !== undefined) {
      const part = request.headers["x-amz-copy-source"] === undefined ? body : (sourceBytes() ?? Buffer.alloc(0));
      upload.set(Number(url.searchParams.get("partNumber")), part);
      send(200, `<CopyPartResult><ETag>${etagOf(part)}</ETag></CopyPartResult>`, { etag: etagOf(part) });
    } else if (request.method === "POST" && upload !== undefined) {
      store(Buffer.concat([...upload.entries()].sort(([a], [b]) => a - b).map(([, bytes]) => bytes)));
      uploads.delete(uploadId as string);
    } else if (request.method === "DELETE" && uploadId !== null) {
      uploads.delete(uploadId);
      send(204);
    } else if (request.method === "PUT" && request.headers["x-amz-copy-source"] !== undefined) {
      const source = sourceBytes();
      if (source === undefined) missing();
      else {
        objects.set(key, source);
        send(200, `<CopyObjectResult><ETag>${etagOf(source)}</ETag></CopyObjectResult>`);
      }
    } else if (request.method === "PUT") store(body);
    else if (request.method === "DELETE") {
      objects.delete(key);
      send(204);
    } else if (url.searchParams.get("list-type") === "2") {
      // Pages of two, so that a caller has to ask again.
      const prefix = `${key.replace(/\/$/, "")}/${url.searchParams.get("prefix") ?? ""}`;
      const asked = key.replace(/\/$/, "");
      const all = [...objects.keys()].filter((name) => name.startsWith(prefix)).sort();
      const contents = all
        .slice(0, 2)
        .map((name) => `<Contents><Key>${escapeXml(name.slice(asked.length + 1))}</Key></Contents>`);
      send(
        200,
        `<ListBucketResult><IsTruncated>${all.length > 2}</IsTruncated>${contents.join("")}</ListBucketResult>`,
      );
    } else {
      const bytes = objects.get(key);
      const range = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "");
      if (bytes === undefined) missing();
      else if (range === null) {
        response.writeHead(200, { "content-length": bytes.length }).end(request.method === "HEAD" ? undefined : bytes);
      } else response.writeHead(206).end(bytes.subarray(Number(range[1]), Number(range[2]) + 1));
    }
  };

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    requests,
    failNext: (count) => {
      failures = count;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
