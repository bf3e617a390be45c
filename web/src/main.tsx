// Joins the browser application: router, cache, live stream, styles.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { askAhead } from "./app/ahead.ts";
import { preloadViews } from "./app/lazy-view.tsx";
import { router } from "./app/router.tsx";
import { Refusal } from "./data/client.ts";
import { createLiveStream } from "./data/live.ts";
import { LiveContext } from "./data/use-live.ts";
import "./style/tokens.css";
import "./style/base.css";
import "./style/parts.css";
import "./style/tones.css";
import "./style/overlays.css";
import "./style/frame.css";
import "./style/print.css";

// A server on this machine or in this house answers without the internet: being "offline" says nothing about it.
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      refetchOnWindowFocus: false,
      networkMode: "always",
      retry: (failures, error) => !(error instanceof Refusal) && failures < 2,
    },
    mutations: { networkMode: "always" },
  },
});
askAhead(queries, window.location);
const live = createLiveStream();

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
  <QueryClientProvider client={queries}>
    <LiveContext value={live}>
      <RouterProvider router={router} />
    </LiveContext>
  </QueryClientProvider>,
);
preloadViews();
