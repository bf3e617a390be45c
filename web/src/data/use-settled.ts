// A value that has stopped changing: what is asked of the server while a person still drags would be thrown away.

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
