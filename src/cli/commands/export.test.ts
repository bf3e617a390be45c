import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Context, Output } from "#cli/context.ts";
import { toExit } from "#cli/sentence.ts";
import { makeFolder } from "../../../tests/support/folder.ts";
import { writeResponse } from "./export.ts";

const context = {} as Context;

function cutOff(): Response {
  const bytes = new TextEncoder().encode("half");
  let isSent = false;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (isSent) controller.error(new Error("cut off"));
    else controller.enqueue(bytes);
    isSent = true;
  };
  return new Response(new ReadableStream({ pull }));
}

it("leaves an earlier file as it was when the answer is cut off, and nothing beside it", async () => {
  const folder = makeFolder();
  const out = join(folder, "run.jsonl");
  await expect(writeResponse(context, cutOff(), out)).rejects.toThrow("cut off");
  expect(readdirSync(folder)).toEqual([]);
  await writeResponse(context, new Response("whole"), out);
  await expect(writeResponse(context, cutOff(), out)).rejects.toThrow("cut off");
  expect(readdirSync(folder)).toEqual(["run.jsonl"]);
  expect(readFileSync(out, "utf8")).toBe("whole");
});

it("writes through a link, which stays one", async () => {
  const folder = makeFolder();
  const out = join(folder, "link");
  symlinkSync(join(folder, "target"), out);
  await writeResponse(context, new Response("whole"), out);
  expect(readFileSync(join(folder, "target"), "utf8")).toBe("whole");
});

it("says of a pipe that its reader has gone", async () => {
  const pipe = join(makeFolder(), "pipe");
  execFileSync("mkfifo", [pipe]);
  const left = once(spawn("head", ["-c", "10", pipe]), "close");
  const written = writeResponse(context, new Response(Buffer.alloc(1 << 20)), pipe);
  await expect(written.catch((error: unknown) => toExit(error))).resolves.toMatchObject({
    message: "Not all could be written: whoever read it has gone.",
    code: 3,
  });
  expect(await left).toEqual([0, null]);
});

it("writes to a reader that is slow no faster than it reads", async () => {
  const words = ["one ", "two ", "three"];
  const body = ReadableStream.from(words.map((word) => new TextEncoder().encode(word)));
  const read: string[] = [];
  let isFull = false;
  let early = 0;
  const stdout: Output = {
    write(chunk) {
      if (isFull) early++;
      isFull = true;
      read.push(Buffer.from(chunk).toString());
      return false;
    },
    once: (_, listener) =>
      setImmediate(() => {
        isFull = false;
        listener();
      }),
  };
  await writeResponse({ stdout } as Context, new Response(body), undefined);
  expect([read.join(""), early]).toEqual(["one two three", 0]);
});
