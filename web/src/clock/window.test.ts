import { expect, test } from "vitest";
import { clampWindow, formatWindow, panWindow, parseWindow, zoomWindow } from "./window.ts";

const start = "1794710577346193000";

test("a window survives its URL to the nanosecond", () => {
  const window = { from: 1_234_567_891, to: 2_000_000_003 };
  expect(parseWindow(formatWindow(window, start), start)).toEqual(window);
});

test("nonsense in the URL is no window", () => {
  expect(parseWindow({ from: "x", to: "1" }, start)).toBeNull();
  expect(parseWindow({ from: "5", to: "4" }, start)).toBeNull();
  expect(parseWindow({ from: "5" }, start)).toBeNull();
});

test("zooming keeps the moment under the pointer", () => {
  const zoomed = zoomWindow({ from: 0, to: 100 }, 25, 0.5);
  expect(zoomed).toEqual({ from: 12.5, to: 62.5 });
});

test("a window is kept inside the run and above the least length", () => {
  const limits = { from: 0, to: 1000 };
  expect(clampWindow({ from: -50, to: 50 }, limits)).toEqual({ from: 0, to: 100 });
  expect(clampWindow({ from: 990, to: 991 }, limits)).toEqual({ from: 900, to: 1000 });
  expect(clampWindow(panWindow({ from: 0, to: 5000 }, 10), limits)).toEqual({ from: 0, to: 1000 });
});
