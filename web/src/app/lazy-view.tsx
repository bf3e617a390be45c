// Each view is a file of its own, so that the first one loads quickly. The others are fetched right after it: a click
// must still work when the server has gone away.

import { type ComponentType, useEffect, useReducer } from "react";
import { useLiveState } from "../data/use-live.ts";
import { Button } from "../part/button.tsx";
import { Loading } from "../part/notice.tsx";

const preloads: (() => Promise<void>)[] = [];

/** A component of a module that is loaded when it is needed, or before. The router waits for `preload`. */
export function lazyView<N extends string, Props extends object>(
  load: () => Promise<{ readonly [K in N]: ComponentType<Props> }>,
  name: N,
) {
  let found: ComponentType<Props> | null = null;
  let failed = false;
  const preload = async (): Promise<void> => {
    if (found !== null) return;
    try {
      found = (await load())[name];
      failed = false;
    } catch {
      failed = true;
    }
  };
  preloads.push(preload);
  // biome-ignore lint/correctness/noComponentHookFactories: called once per view, when the page is loaded.
  function View(props: Props) {
    const [, loaded] = useReducer((count: number) => count + 1, 0);
    if (found === null) return <Missing preload={preload} failed={failed} onLoaded={loaded} />;
    const Found = found;
    return <Found {...props} />;
  }
  return Object.assign(View, { preload });
}

interface MissingProps {
  readonly preload: () => Promise<void>;
  readonly failed: boolean;
  readonly onLoaded: () => void;
}

/** While a view is on its way; it is tried again whenever the server is back. */
function Missing({ preload, failed, onLoaded }: MissingProps) {
  const { state } = useLiveState();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another state of the connection is a reason to try again.
  useEffect(() => {
    void preload().then(onLoaded);
  }, [state, preload, onLoaded]);
  if (!failed) return <Loading />;
  return (
    <div className="empty" role="alert">
      <strong>This part of the page could not be loaded.</strong>
      <p>It loads as soon as the server answers. If the server was updated, reload the page.</p>
      <Button onClick={() => window.location.reload()}>reload the page</Button>
    </div>
  );
}

/** Fetches every view, one after the other, once the page has time for it. */
export function preloadViews(): void {
  const idle = window.requestIdleCallback ?? ((act: () => void) => setTimeout(act, 200));
  idle(() => {
    // Where the first load ends and this begins, for those who measure it.
    performance.mark("views-preload");
    void (async () => {
      for (const preload of preloads) await preload();
      performance.mark("views-loaded");
    })();
  });
}
