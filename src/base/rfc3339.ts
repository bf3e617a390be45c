// RFC 3339 times to integer nanoseconds since the epoch.

const form = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?([Zz]|([+-])(\d\d):(\d\d))$/;

let lastText = "";
let lastNs: bigint | undefined;

/** Nanoseconds since the epoch, or undefined when the text is not a time. Digits beyond nanoseconds are cut off. */
export function parseRfc3339Ns(text: string): bigint | undefined {
  // Consecutive records often have the same time, and a short one ends when it began.
  if (text === lastText) return lastNs;
  lastNs = parseWithinMinute(text) ?? parseNs(text);
  lastText = text;
  return lastNs;
}

// The minute of the time that was last read, as written, and its first nanosecond: the next time is mostly in it.
let minuteText = "none yet";
let minuteNs = 0n;
const minuteLength = "2026-11-15T02:49:".length;
const shortForm = /^\d\d\.\d{3}Z$/;

/** Undefined for a time in another minute, or not written to the millisecond. */
function parseWithinMinute(text: string): bigint | undefined {
  if (text.length !== minuteLength + 7 || !text.startsWith(minuteText)) return undefined;
  const rest = text.slice(minuteLength);
  if (!shortForm.test(rest)) return undefined;
  const ms = Number(rest.slice(0, 2)) * 1000 + Number(rest.slice(3, 6));
  // Second 60 is left to the general reading.
  return ms < 60_000 ? minuteNs + BigInt(ms) * 1_000_000n : undefined;
}

function parseNs(text: string): bigint | undefined {
  const parts = form.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, , sign, offsetHour, offsetMinute] = parts;
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute));
  const date = new Date(ms);
  // Date.UTC rolls over what does not exist (month 13, 31 April), and reads years below 100 as 19xx.
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined;
  if (date.getUTCFullYear() !== Number(year) || Number(hour) > 23 || Number(minute) > 59) return undefined;
  // Second 60 is a leap second; it counts as the first of the next minute.
  if (Number(second) > 60) return undefined;
  let seconds = ms / 1000 + Number(second);
  if (sign !== undefined) {
    if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
    const offset = Number(offsetHour) * 3600 + Number(offsetMinute) * 60;
    seconds += sign === "-" ? offset : -offset;
  }
  const nanos = fraction === undefined ? 0 : Number(fraction.slice(0, 9).padEnd(9, "0"));
  if (text.endsWith("Z")) {
    minuteText = text.slice(0, minuteLength);
    minuteNs = BigInt(ms) * 1_000_000n;
  }
  return BigInt(seconds) * 1_000_000_000n + BigInt(nanos);
}
