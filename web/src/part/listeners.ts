// Who wants to hear that something has changed, as `useSyncExternalStore` asks for it.

export function createListeners() {
  const listeners = new Set<() => void>();
  return {
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell(): void {
      for (const listener of listeners) listener();
    },
  };
}
