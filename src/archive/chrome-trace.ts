// Spans and pipeline nodes as a Chrome trace, which Perfetto and chrome://tracing open. Processes are ranks, threads are
// threads; times are microseconds since the first span, because a double holds no nanoseconds since 1970. The GPU time of
// the innermost spans that have one is a track of its own beside their thread.
//
// Viewers want the slices of one track to nest. Where two overlap (asynchronous code), the later one goes to a further
// track of the same thread.

import type { TraceSlice } from "#store/reader/export-tables.ts";

/** Above every rank: pipelines have none. */
const nodesPid = 1_000_000;

interface Track {
  readonly tid: number;
  /** Ends of the slices that are open, the outermost first. */
  readonly open: bigint[];
}

export class ChromeTrace {
  private baseNs: bigint | undefined;
  private readonly tracks = new Map<string, Track[]>();
  private readonly tids = new Map<number, number>();
  private isFirst = true;

  begin(run: string): string {
    return `{"displayTimeUnit":"ns","otherData":{"run":${JSON.stringify(run)},"exporter":"tributary"},"traceEvents":[`;
  }

  /** Slices are to come by their start, the longer one first where starts are equal. */
  add(slice: TraceSlice): string {
    const start = BigInt(slice.start_ns);
    const end = BigInt(slice.end_ns) < start ? start : BigInt(slice.end_ns);
    this.baseNs ??= start;
    const pid = slice.kind === "node" ? nodesPid : slice.rank;
    const events: string[] = [];
    const name = JSON.stringify(slice.index === null ? slice.name : `${slice.name}[${slice.index}]`);
    const tid = this.place(pid, slice.thread, "", start, end, events);
    const category = slice.kind === "node" ? "node" : "span";
    events.push(this.slice(name, category, pid, tid, start, end, argsOf(slice)));
    if (slice.gpu_ns !== null && !slice.gpu_within) {
      const gpuEnd = start + BigInt(slice.gpu_ns);
      // Kernels may outlast the scope that launched them; the bar ends with it, the argument has the whole time.
      const shownEnd = gpuEnd > end ? end : gpuEnd < start ? start : gpuEnd;
      const gpuTid = this.place(pid, slice.thread, "GPU of ", start, shownEnd, events);
      events.push(this.slice(name, "gpu", pid, gpuTid, start, shownEnd, argsOf(slice)));
    }
    const text = events.map((event, at) => (this.isFirst && at === 0 ? event : `,\n${event}`)).join("");
    this.isFirst = false;
    return text;
  }

  end(): string {
    return `],"startTimeNs":"${this.baseNs ?? 0n}"}\n`;
  }

  private slice(
    name: string,
    category: string,
    pid: number,
    tid: number,
    start: bigint,
    end: bigint,
    args: string,
  ): string {
    const base = this.baseNs as bigint;
    const times = `"ts":${toMicros(start - base)},"dur":${toMicros(end - start)}`;
    return `{"ph":"X","name":${name},"cat":"${category}","pid":${pid},"tid":${tid},${times},"args":${args}}`;
  }

  /** The first track of the thread where the slice nests; a new track is named. */
  private place(pid: number, thread: string, prefix: string, start: bigint, end: bigint, events: string[]): number {
    const key = `${pid}\n${prefix}${thread}`;
    let tracks = this.tracks.get(key);
    if (tracks === undefined) {
      tracks = [];
      this.tracks.set(key, tracks);
    }
    for (const track of tracks) {
      while (track.open.length > 0 && (track.open.at(-1) as bigint) <= start) track.open.pop();
      if (track.open.length > 0 && (track.open.at(-1) as bigint) < end) continue;
      track.open.push(end);
      return track.tid;
    }
    const tid = this.newTid(pid, events);
    const more = tracks.length === 0 ? "" : ` (${tracks.length + 1})`;
    const name = JSON.stringify(`${prefix}${thread === "" ? "nodes" : `thread ${thread}`}${more}`);
    events.push(`{"ph":"M","name":"thread_name","pid":${pid},"tid":${tid},"args":{"name":${name}}}`);
    tracks.push({ tid, open: [end] });
    return tid;
  }

  private newTid(pid: number, events: string[]): number {
    const used = this.tids.get(pid) ?? 0;
    if (used === 0) {
      const name = JSON.stringify(pid === nodesPid ? "pipeline" : `rank ${pid}`);
      events.push(`{"ph":"M","name":"process_name","pid":${pid},"tid":0,"args":{"name":${name}}}`);
    }
    this.tids.set(pid, used + 1);
    return used + 1;
  }
}

function argsOf({ id, cpu_ns, gpu_ns, attrs }: TraceSlice): string {
  const own = [
    `"id":${JSON.stringify(id)}`,
    ...(cpu_ns === null ? [] : [`"cpu_ns":${cpu_ns}`]),
    ...(gpu_ns === null ? [] : [`"gpu_ns":${gpu_ns}`]),
    ...(attrs === "" || attrs === "{}" ? [] : [`"attrs":${attrs}`]),
  ];
  return `{${own.join(",")}}`;
}

/** Exact: three places after the point are nanoseconds. */
function toMicros(ns: bigint): string {
  const rest = ns % 1000n;
  return rest === 0n ? (ns / 1000n).toString() : `${ns / 1000n}.${rest.toString().padStart(3, "0")}`;
}
