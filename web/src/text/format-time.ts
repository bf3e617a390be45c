// Times and durations. A time in an answer is decimal nanoseconds; inside the page it is a plain number of
// nanoseconds after a base (usually the start of the run), exact for 104 days.

/** `time − base` as a number. */
export function toOffsetNs(time: string, base: string): number {
  return Number(BigInt(time) - BigInt(base));
}

export function fromOffsetNs(offsetNs: number, base: string): string {
  return String(BigInt(base) + BigInt(Math.round(offsetNs)));
}

export function toMs(timeNs: string): number {
  return Number(BigInt(timeNs) / 1_000n) / 1_000;
}

/** Three significant digits in the unit that fits: 830 ms, 14.2 s, 1 h 12 m. */
export function formatDuration(ns: number): string {
  const size = Math.abs(ns);
  const sign = ns < 0 ? "−" : "";
  if (size < 1e3) return `${sign}${Math.round(size)} ns`;
  if (size < 999.5e3) return `${sign}${three(size / 1e3)} µs`;
  if (size < 999.5e6) return `${sign}${three(size / 1e6)} ms`;
  if (size < 99.95e9) return `${sign}${three(size / 1e9)} s`;
  const seconds = Math.round(size / 1e9);
  if (seconds < 3600) return `${sign}${Math.floor(seconds / 60)} m ${pad(seconds % 60)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 48 * 60) return `${sign}${Math.floor(minutes / 60)} h ${pad(minutes % 60)} m`;
  return `${sign}${three(minutes / 1440)} d`;
}

/** The same of milliseconds. */
export function formatMs(ms: number): string {
  return formatDuration(ms * 1e6);
}

export function formatAgo(timeMs: number, nowMs: number): string {
  const seconds = (nowMs - timeMs) / 1000;
  if (seconds < -1) return `in ${coarse(-seconds)}`;
  return seconds < 5 ? "now" : `${coarse(seconds)} ago`;
}

/** Local date and time to the millisecond. */
export function formatTime(timeMs: number): string {
  const at = new Date(timeMs);
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${formatClock(timeMs)}`;
}

/** Local time of day to the millisecond. */
export function formatClock(timeMs: number): string {
  const at = new Date(timeMs);
  const millis = String(at.getMilliseconds()).padStart(3, "0");
  return `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}.${millis}`;
}

/** A point after the start of a run, as short as `resolutionNs` allows: 0:14.2, 1:02:03. */
export function formatElapsed(ns: number, resolutionNs: number): string {
  const sign = ns < 0 ? "−" : "";
  const places = Math.max(0, Math.min(9, Math.ceil(-Math.log10(resolutionNs / 1e9))));
  // Rounded before it is taken apart, so that no minute has sixty seconds.
  const total = Number((Math.abs(ns) / 1e9).toFixed(places));
  const minutes = Math.floor(total / 60);
  const tail = (total - minutes * 60).toFixed(places).padStart(places === 0 ? 2 : places + 3, "0");
  if (minutes < 60) return `${sign}${minutes}:${tail}`;
  return `${sign}${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${tail}`;
}

function coarse(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 86_400 * 2) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

function three(value: number): string {
  return value.toPrecision(3).includes("e") ? value.toFixed(0) : value.toPrecision(3);
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
