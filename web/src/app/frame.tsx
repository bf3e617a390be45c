// The frame around every view: side bar, top bar with the way back, the live dot, the palette.

import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { fromSegment } from "#api/contract/segment.ts";
import { Refusal } from "../data/client.ts";
import { useApi, useChange } from "../data/use-api.ts";
import { useLiveState, useStaleOnLive } from "../data/use-live.ts";
import { Button, IconButton } from "../part/button.tsx";
import { Form, TextField } from "../part/field.tsx";
import { Icon, Logo } from "../part/icon.tsx";
import { isTyping, useKeys } from "../part/keys.ts";
import { Name } from "../part/name.tsx";
import { Problem } from "../part/notice.tsx";
import { useNow } from "../part/when.tsx";
import { countOf, formatSi } from "../text/format-number.ts";
import { formatClock } from "../text/format-time.ts";
import { useLastRunsView } from "../view/runs/remembered-view.ts";
import { HelpDialog } from "./help.tsx";
import { lazyView } from "./lazy-view.tsx";
import { places } from "./places.ts";
import { usePreference } from "./preference.ts";
import { useApplyTheme, useOtherTheme } from "./theme.ts";

const TourBar = lazyView(() => import("../view/tour/tour-bar.tsx"), "TourBar");
const AlertToast = lazyView(() => import("../view/rules/alert-toast.tsx"), "AlertToast");
const Palette = lazyView(() => import("./palette.tsx"), "Palette");

export function Frame() {
  useApplyTheme();
  useStaleOnLive();
  useFocusOnMove();
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const touring = usePreference("tour", "0")[0] !== "0";
  useKeys((event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      setPalette((open) => !open);
    } else if (event.key === "?" && !isTyping(event.target)) {
      setHelp(true);
    } else if (event.key === "/" && !isTyping(event.target)) {
      const search = document.querySelector<HTMLElement>("[data-search]");
      if (search !== null) event.preventDefault();
      search?.focus();
    }
  });
  return (
    <div className="frame">
      <button type="button" className="skip" onClick={() => document.getElementById("main")?.focus()}>
        to the content
      </button>
      <SideBar />
      <div className="column">
        <TopBar onPalette={() => setPalette(true)} onHelp={() => setHelp(true)} />
        <main className="column fill" id="main" tabIndex={-1}>
          <LoginGate>
            <Outlet />
          </LoginGate>
        </main>
        <AlertToast />
        {touring ? <TourBar /> : null}
      </div>
      {palette ? <Palette onClose={() => setPalette(false)} onHelp={() => setHelp(true)} /> : null}
      {help ? <HelpDialog onClose={() => setHelp(false)} /> : null}
    </div>
  );
}

/** The focused element is gone with the view that was left; keys then belong to the new view, not to the top of the page. */
function useFocusOnMove(): void {
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname });
  const before = useRef(path);
  useEffect(() => {
    const hasMoved = before.current !== undefined && before.current !== path;
    before.current = path;
    if (hasMoved && document.activeElement === document.body)
      document.getElementById("main")?.focus({ preventScroll: true });
  }, [path]);
}

function SideBar() {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const lastRuns = useLastRunsView();
  return (
    <nav className="column side" aria-label="Views">
      <Link to="/runs" search={lastRuns} className="side-logo" aria-label="Tributary, all runs">
        <Logo />
      </Link>
      {places.map(({ to, title, icon, short = title }) => (
        <Link
          key={to}
          to={to}
          search={to === "/runs" ? lastRuns : {}}
          className={`column side-link ${path.startsWith(to) ? "current" : ""}`}
          aria-label={short}
        >
          <Icon name={icon} />
          <span>{short}</span>
        </Link>
      ))}
    </nav>
  );
}

function TopBar({ onPalette, onHelp }: { readonly onPalette: () => void; readonly onHelp: () => void }) {
  const [other, turn] = useOtherTheme();
  return (
    <header className="row top">
      <Crumbs />
      <span className="grow" />
      <LiveDot />
      <Button look="quiet no-print" onClick={onPalette} aria-label="⌘K command palette">
        <kbd>⌘K</kbd>
      </Button>
      <IconButton look="quiet no-print" icon="theme" label={`Use the ${other} theme`} onClick={turn} />
      <IconButton look="quiet no-print" icon="question" label="Keyboard help" title="keyboard (?)" onClick={onHelp} />
    </header>
  );
}

/** How fresh the page is: the rate when all is well, a sentence when it is not. */
function LiveDot() {
  const live = useLiveState();
  const now = useNow(1_000, live.state !== "open");
  const late = live.state === "waiting" || (live.state === "connecting" && now - live.sinceMs > 2_000);
  const behind = live.waitingEvents > 100_000;
  const text = late
    ? `server away since ${formatClock(live.sinceMs).slice(0, 8)}; what you see is from then`
    : behind
      ? `behind by ${countOf(live.waitingEvents, "event")}`
      : live.state === "open"
        ? `live ${formatSi(live.eventsPerSecond)} ev/s`
        : "connecting";
  return (
    <output className={`small muted one-line live no-print ${late || behind ? "late" : ""}`} aria-label="Live stream">
      <i />
      <span className={late || behind ? "" : "live-rate"}>{text}</span>
    </output>
  );
}

/** Where we are, and the way back. The last part is the page's heading. */
function Crumbs() {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const [view = "runs", id] = path.split("/").filter(Boolean).map(decodeURIComponent);
  const tour = view === "tour" ? "A tour of the sample" : "Tributary";
  const title = places.find(({ to }) => to === `/${view}`)?.title ?? tour;
  const lastRuns = useLastRunsView();
  if (id === undefined) return <Heading text={title} />;
  return (
    <nav className="row crumbs" aria-label="Breadcrumb">
      {view === "launches" ? (
        <Link to="/launches">{title}</Link>
      ) : (
        <Link to="/runs" search={lastRuns}>
          {title}
        </Link>
      )}
      <span className="muted">/</span>
      {view === "runs" ? <RunHeading id={fromSegment(id)} /> : <NameHeading name={id} />}
    </nav>
  );
}

function RunHeading({ id }: { readonly id: string }) {
  const run = useApi("run", { params: { id } });
  return <NameHeading name={run.data?.name ?? id} />;
}

function NameHeading({ name }: { readonly name: string }) {
  return (
    <Heading text={name}>
      <Name>{name}</Name>
    </Heading>
  );
}

function Heading({ text, children = text }: { readonly text: string; readonly children?: ReactNode }) {
  useEffect(() => {
    document.title = `${text} · Tributary`;
  }, [text]);
  return (
    <h1 className="clip" title={text} aria-label={text}>
      {children}
    </h1>
  );
}

/** When the server asks for a key, nothing but this form is shown. */
function LoginGate({ children }: { readonly children: ReactNode }) {
  const session = useApi("session", {}, { staleMs: 60_000 });
  const login = useChange("login", ["session"]);
  const [key, setKey] = useState("");
  const refused = session.error instanceof Refusal && session.error.status === 401;
  if (!refused && !(session.data?.key_needed === true && session.data.scopes.length === 0)) return children;
  return (
    <Form className="empty" onSubmit={() => login.mutate({ body: { key } })}>
      <strong>This server needs a key.</strong>
      <p>Paste an API key with the scope “read”. It stays in a cookie this page cannot read.</p>
      <TextField
        look="mono"
        type="password"
        autoComplete="current-password"
        label="API key"
        placeholder=""
        value={key}
        onChange={setKey}
        style={{ width: 360, maxWidth: "100%" }}
      />
      <Button type="submit" look="primary" disabled={key === "" || login.isPending}>
        log in
      </Button>
      <Problem error={login.error} />
    </Form>
  );
}
