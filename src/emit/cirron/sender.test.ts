import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { startRecorder } from "../../../tests/emit/http-recorder.ts";
import { makeFolder } from "../../../tests/support/folder.ts";
import { Sender } from "./sender.ts";

it("sends a batch with its blobs although its spool file cannot be written again", async () => {
  const server = await startRecorder(({ method }) => ({ status: method === "PUT" ? 201 : 202 }));
  const folder = makeFolder();
  const snapshotsPath = `${folder}/snapshots`;
  const blob = `${snapshotsPath}/span/weights.safetensors`;
  const batch = `${folder}/spool/00000000000000000001-${"a".repeat(32)}.json`;
  mkdirSync(`${snapshotsPath}/span`, { recursive: true });
  writeFileSync(blob, "tensors");
  // A folder under the temporary name stands for a disk that takes no more.
  mkdirSync(`${batch}.tmp`, { recursive: true });
  const sent = JSON.stringify({ snapshots: [{ blob_uri: pathToFileURL(blob).href }] });
  writeFileSync(batch, sent);
  const { url } = server;
  const sender = new Sender({
    ...{ spoolPath: `${folder}/spool`, snapshotsPath, sentPath: `${folder}/sent.txt`, url },
    ...{ apiKey: "", sdkVersion: "1", firstName: "", timeoutMs: 1000 },
  });
  await sender.drain(2000);
  expect(sender.counts).toEqual({ sent: 1, refused: 0, waiting: 0 });
  expect(server.requests.map(({ method }) => method)).toEqual(["PUT", "POST"]);
  expect(server.requests[1]?.body.toString()).toContain(`"blob_uri":"${url}/blobs/snapshots/span/weights.safetensors"`);
  expect(readFileSync(batch, "utf8")).toBe(sent);
});
