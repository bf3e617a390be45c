// A value that has stopped changing: answers to questions asked during a drag would be thrown away.

import { useEffect, useState } from "react";

export function useSettled<T>(value: T, restMs: number): T {
  const key = JSON.stringify(value);
  const [settled, setSettled] = useState({ key, value });
  useEffect(() => {
    if (key === settled.key) return;
    const timer = setTimeout(() => setSettled({ key, value }), restMs);
    return () => clearTimeout(timer);
  }, [key, settled.key, value, restMs]);
  return settled.value;
}
