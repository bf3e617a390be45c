// The size an element has on screen, for pictures that fill it. Nothing is painted before it is known.

import { type RefObject, useLayoutEffect, useState } from "react";

export function useSize(host: RefObject<HTMLElement | null>): { readonly width: number; readonly height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = host.current;
    if (element === null) return;
    const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight });
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    measure();
    return () => watch.disconnect();
  }, [host]);
  return size;
}
