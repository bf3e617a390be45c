// Where an element is: near the screen, and how large on it.

import { type RefObject, useEffect, useLayoutEffect, useState } from "react";

/** True once an element has come near the screen: a hundred panels do not mean a hundred requests. */
export function useSeen(host: RefObject<HTMLElement | null>): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const watch = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
      },
      { rootMargin: "300px" },
    );
    watch.observe(element);
    return () => watch.disconnect();
  }, [host]);
  return seen;
}

/** The size an element has on screen, for pictures that fill it. Nothing is painted before it is known. */
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
