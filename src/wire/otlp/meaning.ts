// What attributes mean: to which run a resource belongs, which of its workers sends, and to which step a record belongs. These
// tables are all that is known about the vocabulary of senders; every other attribute is kept under its name.

import { createHash } from "node:crypto";
import { type JsonObject, type JsonValue, NumberText } from "#base/json/value.ts";

/** Resource attributes that name a run, the most telling first. */
const runNames = ["tributary.run.id", "nemo.run.id"] as const;
const rankNames = ["dl.rank", "nv.dl.rank", "torch.distributed.rank", "distributed.rank", "rank"] as const;
/** Attributes that name the training step to which a record belongs. */
export const stepNames = [
  "megatron.iteration",
  "dl.step",
  "nv.dl.step",
  "nemo.step",
  "rl.step",
  "training.step",
  "train.step",
  "trainer.global_step",
  "global_step",
  "iteration",
  "step",
] as const;
/** Numbers on a span of a step that measure nothing. */
const labelNames: ReadonlySet<string> = new Set([
  ...rankNames,
  "thread.id",
  "process.pid",
  "code.lineno",
  "code.line.number",
  "code.column.number",
  "epoch",
]);
const threadName = "thread.id";

/** What the name of a span's attribute means to the span. */
export type AttributeRole = "step" | "thread" | "label" | "other";

/** `ownSteps` are names that the setting `otlp.steps` adds. */
export function toRoleOf(ownSteps: readonly string[]): (name: string) => AttributeRole {
  const steps = new Set<string>([...ownSteps, ...stepNames]);
  return (name) => {
    if (steps.has(name)) return "step";
    if (name === threadName) return "thread";
    return labelNames.has(name) ? "label" : "other";
  };
}

/** What the headers of a request say about its run; each '' when it is not there. */
export interface NamedRuns {
  /** `x-tributary-run`, or a run that the path or `--run-id` names. */
  readonly run: string;
  /** `x-mlflow-run-id`. */
  readonly mlflowRun: string;
}

/** The run that a resource's records belong to. */
export function runOf(attributes: JsonObject, named: NamedRuns): string {
  const run = findRun(attributes, named);
  return run.length <= runLengthMax ? run : `${run.slice(0, runLengthMax)}-${shortHash(run)}`;
}

/** A sender may use any name for a run. A longer one is cut, with a hash that keeps it apart from others with this beginning. */
const runLengthMax = 512;

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function findRun(attributes: JsonObject, named: NamedRuns): string {
  if (named.run !== "") return named.run;
  for (const name of runNames) {
    const text = textOf(attributes[name]);
    if (text !== "") return text;
  }
  return named.mlflowRun === "" ? sessionOf(attributes) : named.mlflowRun;
}

/** A name for the process, as far as the resource distinguishes it from others of its service. */
function sessionOf(attributes: JsonObject): string {
  const service = textOf(attributes["service.name"]) || "unknown_service";
  const instance = textOf(attributes["service.instance.id"]);
  if (instance !== "") return instance.startsWith(service) ? instance : `${service}-${instance}`;
  const process = [textOf(attributes["host.name"]), textOf(attributes["process.pid"])].filter((part) => part !== "");
  return textOf(attributes["process.pid"]) === "" ? service : [service, ...process].join("-");
}

export interface Sender {
  readonly rank: number;
  /** The rank where there is one, else the instance of the service. */
  readonly worker: string;
  readonly pid: bigint | null;
}

export function senderOf(attributes: JsonObject): Sender {
  const pid = integerOf(attributes["process.pid"]);
  for (const name of rankNames) {
    const rank = integerOf(attributes[name]);
    if (rank !== null && rank >= 0n && rank < 2n ** 31n) return { rank: Number(rank), worker: String(rank), pid };
  }
  return { rank: 0, worker: textOf(attributes["service.instance.id"]), pid };
}

/** The first of the names that has a whole number; null when none does. */
export function stepOf(attributes: JsonObject, roleOf: (name: string) => AttributeRole): bigint | null {
  for (const name of Object.keys(attributes)) {
    if (roleOf(name) !== "step") continue;
    const step = integerOf(attributes[name]);
    if (step !== null) return step;
  }
  return null;
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return value instanceof NumberText ? value.text : "";
}

/** Attributes from the environment are always text, so numbers are accepted as text too. */
function integerOf(value: JsonValue | undefined): bigint | null {
  const text = textOf(value);
  return /^-?\d{1,18}$/.test(text) ? BigInt(text) : null;
}
