// The bus against a real NATS server.

import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { Bus, BusOutage } from "#bus/bus.ts";
import { type Peer, Peers } from "#bus/peers.ts";
import { makeFolder } from "../support/folder.ts";
import { eventually, type NatsServer, natsPath, startNats } from "../support/several.ts";

let nats: NatsServer;
const buses: Bus[] = [];

function open(self: string, url = nats.url, prefix = "test"): Bus {
  const bus = new Bus({
    url,
    user: "",
    password: "",
    prefix,
    self,
    onChange: () => undefined,
    onTrouble: () => undefined,
  });
  buses.push(bus);
  return bus;
}

async function openPair(): Promise<[Bus, Bus]> {
  const pair: [Bus, Bus] = [open("a"), open("b")];
  await eventually(() => pair.every((bus) => bus.isConnected), "the bus did not connect");
  return pair;
}

describe.skipIf(natsPath === undefined)("the bus", () => {
  beforeAll(async () => {
    nats = await startNats();
    return () => nats.kill();
  });
  afterEach(async () => {
    await Promise.all(buses.splice(0).map((bus) => bus.close()));
  });

  test("tells all others or one, never oneself, and no other installation", async () => {
    const [a, b] = await openPair();
    const stranger = open("c", nats.url, "other");
    await eventually(() => stranger.isConnected, "the stranger did not connect");
    const heard: string[] = [];
    for (const bus of [a, b, stranger])
      bus.hear("news", (body, from) => heard.push(`${bus.self} hears ${JSON.stringify(body)} from ${from}`));
    a.tell("news", { n: 1 });
    a.tell("news", { n: 2 }, "b");
    a.tell("news", { n: 3 }, "c");
    await b.ask("a", "nothing", {}, 1000).catch(() => undefined);
    await eventually(() => heard.length >= 2, "nothing was heard");
    expect(heard).toEqual(['b hears {"n":1} from a', 'b hears {"n":2} from a']);
  });

  test("answers, refuses, and says when nobody is there", async () => {
    const [a, b] = await openPair();
    b.answer("double", (body) => (body as number) * 2);
    b.answer("never", () => {
      throw new Error("not today");
    });
    // The server has read what b listens for once it has answered b.
    await b.ask("a", "nothing", {}, 1000).catch(() => undefined);
    expect(await a.ask("b", "double", 21, 1000)).toBe(42);
    await expect(a.ask("b", "never", 0, 1000)).rejects.toThrow(/not today/);
    await expect(a.ask("nobody", "double", 1, 200)).rejects.toBeInstanceOf(BusOutage);
  });

  test("drops what cannot leave instead of waiting", async () => {
    const [a] = await openPair();
    expect(a.tell("news", "x".repeat(2 * 1024 * 1024))).toBe(false);
    expect(a.bodyBytesMax).toBeGreaterThan(500_000);
    const nowhere = open("d", "nats://127.0.0.1:1");
    expect([nowhere.isConnected, nowhere.tell("news", 1), nowhere.bodyBytesMax]).toEqual([false, false, 0]);
    await expect(nowhere.ask("a", "double", 1, 200)).rejects.toBeInstanceOf(BusOutage);
  });

  test("connects to a server that comes later, and again to one that was lost", async () => {
    await nats.kill();
    const late = open("late");
    await nats.start();
    await eventually(() => late.isConnected, "it did not connect");
    await nats.kill();
    await eventually(() => !late.isConnected, "the loss was not noticed");
    await nats.start();
    await eventually(() => late.isConnected, "it did not connect again");
    const other = open("other");
    await eventually(() => other.isConnected, "the other did not connect");
    other.answer("echo", (body) => body);
    // The server may hear of the question before it hears who answers it.
    await expect.poll(() => late.ask("other", "echo", "still there", 2000).catch(String)).toBe("still there");
  });

  test("comes in again after the server refused it", async () => {
    const guarded = await startNats(["--user", "u", "--pass", "right"]);
    const troubles: string[] = [];
    const options = { url: guarded.url, user: "u", prefix: "test", self: "e", onChange: () => undefined };
    const bus = new Bus({ ...options, password: "wrong", onTrouble: (message) => troubles.push(message) });
    buses.push(bus);
    await eventually(() => troubles.length > 0, "the refusal was not told");
    expect(bus.isConnected).toBe(false);
    const right = new Bus({ ...options, password: "right", onTrouble: () => undefined });
    buses.push(right);
    await eventually(() => right.isConnected, "the right password was refused");
    await guarded.kill();
  });

  test("finds its client in a bundle, as a release has it", async () => {
    const folder = makeFolder();
    const banner = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';
    await build({
      entryPoints: [fileURLToPath(new URL("../../src/bus/bus.ts", import.meta.url))],
      outdir: folder,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      splitting: true,
      platform: "node",
      format: "esm",
      banner: { js: banner },
      logLevel: "error",
    });
    const bundled = (await import(pathToFileURL(join(folder, "bus.mjs")).href)) as typeof import("#bus/bus.ts");
    const quiet = { onChange: () => undefined, onTrouble: () => undefined };
    const bus = new bundled.Bus({ url: nats.url, user: "", password: "", prefix: "test", self: "f", ...quiet });
    buses.push(bus);
    await eventually(() => bus.isConnected, "the bundled bus did not connect");
  });

  test("knows who lives, how far they are, who started again and who said goodbye", async () => {
    const [a, b] = await openPair();
    const events: string[] = [];
    const peersOf = (bus: Bus, epoch: string, stored: number) =>
      new Peers(bus, {
        epoch,
        progress: () => ({ applied: stored, stored }),
        onCome: (peer: Peer) => events.push(`${bus.self}: ${peer.id} came`),
        onGo: (peer: Peer) => events.push(`${bus.self}: ${peer.id} went`),
      });
    const storedOf = (peers: Peers, id: string) => peers.list().find((peer) => peer.id === id)?.stored;
    const [mine, theirs] = [peersOf(a, "1", 5), peersOf(b, "1", 7)];
    theirs.beat();
    await eventually(() => mine.has("b") && theirs.has("a"), "they do not know each other");
    expect([storedOf(mine, "b"), storedOf(theirs, "a")]).toEqual([7, 5]);
    b.tell("beat", { epoch: "2", applied: 9, stored: 8 });
    await eventually(() => storedOf(mine, "b") === 8, "the new start was not heard");
    expect(events.filter((text) => text.startsWith("a:"))).toEqual(["a: b came", "a: b went", "a: b came"]);
    theirs.close();
    await eventually(() => !mine.has("b"), "the goodbye was not heard");
    mine.close();
  });
});
