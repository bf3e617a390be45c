// Points of metrics → one row each in `events` with the whole point, and rows in `metrics` for what can be drawn: a number as
// it is; count, sum, mean, minimum and maximum of a distribution; the quantiles of a summary.
//
// A series is a name with its attributes, as in `name{route=/a,code=200}`; an attribute that names a step is not part of it.

import { UInt32Column } from "#base/columns.ts";
import { formatJson } from "#base/json/format.ts";
import type { JsonObject } from "#base/json/value.ts";
import { createRows, type Rows } from "#model/tables.ts";
import { hasUnknown, toAttributes } from "./attribute-values.ts";
import { ContentIds, toNumber } from "./identity.ts";
import { toJson } from "./json-message.ts";
import { type AttributeRole, stepOf } from "./meaning.ts";
import { decodeMessage, encodeMessage, type Message } from "./message.ts";
import type { Origin } from "./origin.ts";
import type { ProtoReader } from "./protobuf.ts";
import { type MetricKind, metric, metricKinds, pointTypes } from "./schema.ts";

const timeMax = 2n ** 63n;
/** Set in a point's `flags` when the sender has no value for this time. */
const noValueFlag = 1;

export class PointColumns {
  /** All that was sent. */
  readonly rows: Rows<"events"> = createRows("events");
  readonly origin: UInt32Column = new UInt32Column();
  /** What can be drawn, and for each the row of `rows` to which it belongs. */
  readonly drawn: Rows<"metrics"> = createRows("metrics");
  readonly owner: UInt32Column = new UInt32Column();
  /** Points that could not be taken, beyond one per metric. */
  rejected = 0;
  private readonly ids = new ContentIds();
  private readonly roleOf: (name: string) => AttributeRole;

  constructor(roleOf: (name: string) => AttributeRole) {
    this.roleOf = roleOf;
  }

  get length(): number {
    return this.origin.length;
  }

  /** Pushes all points of a metric, or none of them. */
  take(reader: ProtoReader, from: number, to: number, origin: Origin, originAt: number): string | null {
    const decoded = decodeMessage(metric, reader.bytes.subarray(from, to));
    if (decoded === null) return "a metric is no protobuf, nested too deep or of too many values";
    const { message, isExact } = decoded;
    const kind = metricKinds.find((one) => message[one] !== undefined);
    if (kind === undefined) return "a metric is neither gauge, sum, histogram, exponential histogram nor summary";
    const { dataPoints = [], ...about } = message[kind] as Message;
    const points = dataPoints as Message[];
    if (points.some((point) => !isTime(point["timeUnixNano"]))) {
      this.rejected += points.length - 1;
      return "a point has no time, or one after the year 2262";
    }
    const { [kind]: _, ...named } = message;
    const head = toHead(named, kind, about);
    const isOdd = !isExact || hasUnknown(message) || hasUnknown(about) || head.isOdd;
    for (const point of points) {
      const whole = () => encodeMessage(metric, { ...named, [kind]: { ...about, dataPoints: [point] } });
      this.push({ kind, point, head: head.values, origin, originAt, isOdd, whole });
    }
    return null;
  }

  private push({ kind, point, head, origin, originAt, isOdd, whole }: TakenPoint): void {
    const { attributes: list, ...rest } = point;
    const attributes = toAttributes(list);
    const pointType = pointTypes[kind];
    const said = formatJson({ ...head, attributes: attributes.values, point: toJson(pointType, rest) }, "strict");
    const payload = `{"origin":${origin.payload},${said.slice(1)}`;
    const isWhole = !isOdd && !attributes.isOdd && !hasUnknown(point);
    const raw = isWhole ? "" : Buffer.from(whole()).toString("base64");
    const id = this.ids.of(kind, payload, raw);
    const { rows } = this;
    const timeNs = (point["timeUnixNano"] ?? 0n) as bigint;
    this.origin.push(originAt);
    rows.type.push(kind);
    rows.worker.push(origin.worker);
    rows.ts_ns.pushBigInt(timeNs);
    rows.event_id.push(id);
    rows.payload.push(payload);
    rows.extra.push(`{"origin":"${origin.id}"}`);
    rows.raw.push(raw);
    this.draw(kind, point, head["name"] as string, attributes.values, { worker: origin.worker, timeNs, id });
  }

  private draw(kind: MetricKind, point: Message, name: string, attributes: JsonObject, about: DrawnAbout): void {
    if ((((point["flags"] ?? 0) as number) & noValueFlag) !== 0) return;
    const labels = toLabels(attributes, this.roleOf);
    const step = stepOf(attributes, this.roleOf);
    const { drawn } = this;
    for (const [entry, { suffix, value, text }] of toNumbers(kind, point).entries()) {
      this.owner.push(this.length - 1);
      drawn.key.push(`${name}${suffix}${labels.suffix}`);
      drawn.worker.push(about.worker);
      if (step === null) drawn.step.pushNull();
      else drawn.step.present().pushBigInt(step);
      drawn.ts_ns.pushBigInt(about.timeNs);
      drawn.value.present().push(value);
      drawn.value_text.push(text);
      drawn.seq.pushBigInt(toNumber(about.id));
      drawn.entry.push(entry);
      drawn.ctx.push(labels.ctx);
    }
  }
}

function isTime(value: Message[string] | undefined): boolean {
  return typeof value === "bigint" && value > 0n && value < timeMax;
}

interface TakenPoint {
  readonly kind: MetricKind;
  readonly point: Message;
  readonly head: JsonObject;
  readonly origin: Origin;
  readonly originAt: number;
  readonly isOdd: boolean;
  readonly whole: () => Uint8Array;
}

interface DrawnAbout {
  readonly worker: string;
  readonly timeNs: bigint;
  readonly id: string;
}

/** What all points of a metric share. */
function toHead(named: Message, kind: MetricKind, about: Message): { values: JsonObject; isOdd: boolean } {
  const metadata = toAttributes(named["metadata"]);
  const values: JsonObject = { name: (named["name"] ?? "") as string, kind };
  for (const [name, value] of [
    ["unit", named["unit"]],
    ["description", named["description"]],
    ["temporality", about["aggregationTemporality"]],
    ["monotonic", about["isMonotonic"]],
  ] as const)
    if (value !== undefined && value !== "" && value !== 0 && value !== false)
      values[name] = value as string | number | boolean;
  if (named["metadata"] !== undefined) values["metadata"] = metadata.values;
  return { values, isOdd: metadata.isOdd };
}

function toLabels(attributes: JsonObject, roleOf: (name: string) => AttributeRole): { suffix: string; ctx: string } {
  const names = Object.keys(attributes).filter((name) => roleOf(name) !== "step");
  if (names.length === 0) return { suffix: "", ctx: "" };
  const kept = Object.fromEntries(names.sort().map((name) => [name, attributes[name] ?? null]));
  const pairs = Object.entries(kept).map(([name, value]) => {
    return `${name}=${typeof value === "string" ? value : formatJson(value, "strict")}`;
  });
  return { suffix: `{${pairs.join(",")}}`, ctx: formatJson(kept, "strict") };
}

interface DrawnNumber {
  readonly suffix: string;
  readonly value: number;
  /** The number itself where a double does not hold it. */
  readonly text: string;
}

function toNumbers(kind: MetricKind, point: Message): DrawnNumber[] {
  if (kind === "gauge" || kind === "sum") {
    const value = (point["asDouble"] ?? point["asInt"]) as number | bigint | undefined;
    return value === undefined ? [] : [toNumberOf("", value)];
  }
  const { count, sum, min, max, quantileValues = [] } = point as { [name: string]: number | bigint | Message[] };
  const mean = typeof sum === "number" && typeof count === "bigint" && count > 0n ? sum / Number(count) : undefined;
  const named = [
    [".mean", mean],
    [".count", count ?? 0n],
    [".sum", sum],
    [".min", min],
    [".max", max],
  ] as const;
  const quantiles = (quantileValues as Message[]).map((one) => {
    const percent = Number((((one["quantile"] ?? 0) as number) * 100).toPrecision(12));
    return toNumberOf(`.p${percent}`, (one["value"] ?? 0) as number);
  });
  return [
    ...named.flatMap(([suffix, value]) => (value === undefined ? [] : [toNumberOf(suffix, value as number | bigint)])),
    ...quantiles,
  ];
}

function toNumberOf(suffix: string, value: number | bigint): DrawnNumber {
  const number = Number(value);
  const isExact = typeof value === "number" || BigInt(number) === value;
  return { suffix, value: number, text: isExact ? "" : String(value) };
}
