// The steps of a Dockerfile, carried out on this machine in folders that stand for the roots of its stages: there is no
// Docker where these tests run. Only the words that ours has are known; another one throws.

import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readFile, rename, stat } from "node:fs/promises";
import { dirname, join, matchesGlob } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const binaries = "/usr/local/bin";

export interface Image {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** Who is not root in it. */
  readonly user: string;
  readonly stopSignal: string;
  /** The entry point with its usual arguments. */
  readonly command: readonly string[];
}

interface Step {
  readonly word: string;
  readonly rest: string;
}

interface Stage extends Image {
  readonly name: string;
  readonly folder: string;
  entry: readonly string[];
}

export function readSteps(dockerfile: string): Step[] {
  const lines = dockerfile.split("\n").filter((line) => !line.startsWith("#"));
  return lines
    .join("\n")
    .replaceAll("\\\n", " ")
    .split("\n")
    .flatMap((line) => {
      const [, word, rest] = /^([A-Z]+)\s+(.*)$/.exec(line.trim()) ?? [];
      return word === undefined || rest === undefined ? [] : [{ word, rest: rest.trim() }];
    });
}

/** The last stage, made in `folder` of the checkout in `context`. */
export async function replaySteps(steps: readonly Step[], context: string, folder: string): Promise<Image> {
  // Users other than root need access to it in the image.
  for (const each of [dirname(folder), folder]) await chmod(each, (await stat(each)).mode | 0o011);
  const stages: Stage[] = [];
  for (const { word, rest } of steps) {
    if (word === "FROM") {
      stages.push(await beginStage(rest, folder, stages.length));
      continue;
    }
    const at = stages.length - 1;
    stages[at] = await carryOut(word, rest, stages[at] as Stage, { stages, context });
  }
  return stages.at(-1) as Stage;
}

/** What a base image of Node has. */
async function beginStage(rest: string, folder: string, at: number): Promise<Stage> {
  const [, name = String(at)] = /^\S+ AS (\S+)$/.exec(rest) ?? [];
  const root = join(folder, name);
  await mkdir(join(root, binaries), { recursive: true });
  await cp(process.execPath, join(root, binaries, "node"));
  return { name, root, folder: root, env: {}, user: "root", stopSignal: "SIGTERM", entry: [], command: [] };
}

interface Around {
  readonly stages: readonly Stage[];
  readonly context: string;
}

async function carryOut(word: string, rest: string, stage: Stage, around: Around): Promise<Stage> {
  switch (word) {
    case "WORKDIR":
      await mkdir(join(stage.root, rest), { recursive: true });
      return { ...stage, folder: join(stage.root, rest) };
    case "COPY":
      await copy(rest.split(" "), stage, around);
      return stage;
    case "RUN":
      await run("sh", ["-ec", toLocal(rest, stage.root)], { cwd: stage.folder, env: shellEnv(stage), maxBuffer: 1e8 });
      return stage;
    case "ENV":
      return { ...stage, env: { ...stage.env, ...Object.fromEntries(rest.split(" ").map((pair) => pair.split("="))) } };
    case "USER":
      return { ...stage, user: rest };
    case "STOPSIGNAL":
      return { ...stage, stopSignal: rest };
    case "ENTRYPOINT":
      return { ...stage, entry: JSON.parse(rest) as string[] };
    case "CMD":
      return { ...stage, command: [...stage.entry, ...(JSON.parse(rest) as string[])] };
    case "VOLUME":
    case "EXPOSE":
      return stage;
    default:
      throw new Error(`Nobody has said how to carry out ${word}.`);
  }
}

/** How npm gets at packages from here. What else a test's process has in its environment is no affair of an image. */
const passedOn = /^(HOME|npm_config_(registry|cafile|userconfig)|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS)$/i;

/** The machine's own programs, and the stage's Node before any other. */
export function shellEnv({ root }: Pick<Image, "root">): NodeJS.ProcessEnv {
  const passed = Object.entries(process.env).filter(([name]) => passedOn.test(name));
  return { ...Object.fromEntries(passed), PATH: `${join(root, binaries)}:${process.env["PATH"]}` };
}

/** Paths of the image as those of its folder, and its user by number: this machine may have none of that name. */
function toLocal(command: string, root: string): string {
  return command.replaceAll(/(?<=^|\s)\/(?=\w)/g, `${root}/`).replace("-o node -g node", `-o ${nodeId} -g ${nodeId}`);
}

/** Of the user `node` in the images of Node; only root may become somebody else. */
export const nodeId: number = process.getuid?.() === 0 ? 1000 : (process.getuid?.() ?? 1000);

async function copy(words: readonly string[], stage: Stage, { stages, context }: Around): Promise<void> {
  const from = words.find((word) => word.startsWith("--from="))?.slice("--from=".length);
  const paths = words.filter((word) => !word.startsWith("--"));
  const target = join(stage.folder, paths.at(-1) as string);
  for (const path of paths.slice(0, -1)) {
    if (from === undefined) {
      for (const file of await listContext(context, path)) await copyFile(join(context, file), join(target, file));
      continue;
    }
    const source = join(stages.find(({ name }) => name === from)?.root ?? "", path);
    const isFolder = paths.at(-1) !== "./";
    // What a stage leaves behind is needed once, and may be hundreds of megabytes.
    await rename(source, isFolder ? target : join(target, path.split("/").at(-1) as string));
  }
}

async function copyFile(source: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  await cp(source, target, { verbatimSymlinks: true });
}

/** What a fresh checkout has under a path, without what the image is not to see. */
async function listContext(context: string, path: string): Promise<string[]> {
  const ignored = (await readFile(join(context, ".dockerignore"), "utf8")).split("\n").filter((line) => line !== "");
  const { stdout } = await run("git", ["-C", context, "ls-files", "-z", "--", path], { maxBuffer: 1e8 });
  const isSeen = (file: string): boolean =>
    !ignored.some((pattern) => matchesGlob(file, pattern) || file.startsWith(`${pattern}/`));
  return stdout.split("\0").filter((file) => file !== "" && isSeen(file));
}
