// The attributes of a resource as params of its run, once for each group that has records of it.

import type { Int64Column } from "#base/columns.ts";
import { formatJson } from "#base/json/format.ts";
import { type JsonValue, NumberText } from "#base/json/value.ts";
import type { ArrivedAt } from "#intake/input.ts";
import type { KnownGroups } from "#intake/known-groups.ts";
import type { AnyTablePart } from "#model/batch.ts";
import type { GroupName } from "#model/names.ts";
import { createRows } from "#model/tables.ts";
import type { Origin } from "#wire/otlp/origin.ts";
import { loadContentId } from "./identity.ts";
import type { Placement } from "./placement.ts";

/** The number of params that are attributes of a resource, which is no record of its own. */
const ofResource = -2;

export class ResourceParams {
  private readonly groups: KnownGroups;
  private readonly placed: Placement;
  private readonly meta: ArrivedAt;
  private readonly params = createRows("params");
  /** Pairs of group and origin that this request has met. */
  private readonly seen = new Set<number>();
  private lastPair = -1;

  constructor(groups: KnownGroups, placed: Placement, meta: ArrivedAt) {
    this.groups = groups;
    this.placed = placed;
    this.meta = meta;
  }

  /** A record of this group comes from there; its time is that of the params, if they are new. */
  note(group: number, from: number, origins: readonly Origin[], times: Int64Column, row: number): void {
    const pair = group * origins.length + from;
    if (pair === this.lastPair) return;
    this.lastPair = pair;
    if (this.seen.has(pair)) return;
    this.seen.add(pair);
    const origin = origins[from] as Origin;
    const { groupKey } = this.placed.groups[group] as Placement["groups"][number];
    loadContentId(origin.id);
    if (this.groups.linesOf(groupKey, this.meta.position).getOrSet(0) >= 0) return;
    const tsNs = times.at(row);
    for (const [name, value] of Object.entries(origin.resource)) this.push(name, value, origin.worker, groupKey, tsNs);
  }

  parts(): AnyTablePart[] {
    const { params } = this;
    return params.seq.length === 0 ? [] : [{ table: "params", rows: params, dropped: null }];
  }

  private push(name: string, value: JsonValue, worker: string, groupKey: GroupName, tsNs: bigint): void {
    const { params } = this;
    params.group_key.push(groupKey);
    params.name.push(name);
    params.worker.push(worker);
    params.key.push(name);
    params.nested_key.push("");
    params.value.push(formatJson(value, "strict"));
    if (typeof value === "number" || typeof value === "bigint") params.value_num.present().push(Number(value));
    else if (value instanceof NumberText) params.value_num.present().push(Number(value.text));
    else params.value_num.pushNull();
    params.ts_ns.pushBigInt(tsNs);
    params.seq.pushNumber(ofResource);
    params.received_ns.pushBigInt(this.meta.receivedNs);
    params.jpos.pushNumber(this.meta.position);
    params.jrow.push(params.seq.length - 1);
    params.flags.push(0);
    params.extra.push("");
    params.raw.push("");
  }
}
