// True once an element has come near the screen: a hundred panels do not mean a hundred requests.

import { type RefObject, useEffect, useState } from "react";

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
