// The troubles that strike several collectors while jobs send to them. Each trouble is over when its promise resolves.

import { setTimeout as sleep } from "node:timers/promises";
import type { Member, Road, World } from "./world.ts";

type Random = () => number;
export type Trouble = (world: World, random: Random) => Promise<void>;

const someMember = ({ members }: World, random: Random): Member =>
  members[Math.floor(random() * members.length)] as Member;
/** Long enough to be noticed: a collector that is silent for four seconds counts as gone. */
const pause = (random: Random, longestMs: number): Promise<void> => sleep(500 + random() * longestMs);

async function cutOff(road: Road, random: Random): Promise<void> {
  road.close();
  await pause(random, 4000);
  await road.reopen();
}

export const troubles: Readonly<Record<string, Trouble>> = {
  async "kill a collector"(world, random) {
    const { process } = someMember(world, random);
    await process.kill();
    await pause(random, 1000);
    await process.start();
  },
  async "stop a collector and start it again"(world, random) {
    const { process } = someMember(world, random);
    await process.stop();
    await process.start();
  },
  async "freeze a collector"(world, random) {
    const { process } = someMember(world, random);
    process.signal("SIGSTOP");
    await pause(random, 6500);
    process.signal("SIGCONT");
  },
  async "cut a collector off from the bus"(world, random) {
    await cutOff(someMember(world, random).toBus, random);
  },
  async "kill the bus"({ nats }, random) {
    await nats.kill();
    await pause(random, 3000);
    await nats.start();
  },
  async "kill the store"({ engine }, random) {
    if (engine.pid !== undefined) process.kill(engine.pid, "SIGKILL");
    await pause(random, 3000);
    await engine.whenReady();
  },
  async "freeze the store"({ engine }, random) {
    const { pid } = engine;
    if (pid !== undefined) process.kill(pid, "SIGSTOP");
    await pause(random, 6500);
    // One that was silent for too long is replaced meanwhile.
    if (pid !== undefined && engine.pid === pid) process.kill(pid, "SIGCONT");
    await engine.whenReady();
  },
  "cut the store off": ({ toStore }, random) => cutOff(toStore, random),
  "cut the bucket off": ({ toBucket }, random) => cutOff(toBucket, random),
};
