// ⌘K: go to a run, a metric of the open run, a view, or do something.

import { useNavigate, useRouterState } from "@tanstack/react-router";
import { Command } from "cmdk";
import { useDeferredValue, useEffect, useRef, useState } from "react";
import { useApi } from "../data/use-api.ts";
import { Icon } from "../part/icon.tsx";
import { Status } from "../part/status.tsx";
import { runTabs } from "../view/run/tabs.ts";
import "./palette.css";
import { useTheme, useThemeChoice } from "./theme.ts";

const views = [
  ["Runs", "/runs"],
  ["Launches", "/launches"],
  ["Compare", "/compare"],
  ["SQL", "/sql"],
  ["Health", "/health"],
  ["Getting started", "/start"],
  ["Settings", "/settings"],
] as const;

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  useEffect(() => {
    dialog.current?.showModal();
    dialog.current?.querySelector("input")?.focus();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click only serves the backdrop; Esc closes by the platform.
    <dialog
      ref={dialog}
      className="dialog palette"
      aria-label="Command palette"
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <Command label="Command palette" shouldFilter>
        <Command.Input value={text} onValueChange={setText} placeholder="go to a run, a view, an action…" />
        <Command.List>
          <Command.Empty>Nothing is called that.</Command.Empty>
          <OfRun onDone={onClose} />
          <Runs text={text} onDone={onClose} />
          <Views onDone={onClose} />
        </Command.List>
      </Command>
    </dialog>
  );
}

function Runs({ text, onDone }: { readonly text: string; readonly onDone: () => void }) {
  const navigate = useNavigate();
  const asked = useDeferredValue(text)
    .replace(/[^\p{L}\p{N}_.-]+/gu, " ")
    .trim();
  const filter = asked === "" ? "" : `name~"${asked}" OR id~"${asked}"`;
  const runs = useApi("runs", { query: { limit: 12, filter, sort: ["-start"] } }, { keep: true });
  return (
    <Command.Group heading="runs">
      {runs.data?.runs.map((run) => (
        <Command.Item
          key={run.id}
          value={`${run.name} ${run.id}`}
          onSelect={() => {
            void navigate({ to: "/runs/$id/charts", params: { id: run.id } });
            onDone();
          }}
        >
          <span className="clip grow">{run.name}</span>
          <Status status={run.status} />
        </Command.Item>
      ))}
    </Command.Group>
  );
}

function OfRun({ onDone }: { readonly onDone: () => void }) {
  const navigate = useNavigate();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const id = /^\/runs\/([^/]+)/.exec(path)?.[1];
  if (id === undefined) return null;
  return (
    <Command.Group heading="this run">
      {runTabs.map(([tab, word]) => (
        <Command.Item
          key={tab}
          value={`this run ${word}`}
          onSelect={() => {
            void navigate({ to: `/runs/$id/${tab}`, params: { id: decodeURIComponent(id) } } as never);
            onDone();
          }}
        >
          {word}
        </Command.Item>
      ))}
    </Command.Group>
  );
}

function Views({ onDone }: { readonly onDone: () => void }) {
  const navigate = useNavigate();
  const theme = useTheme();
  const [, setChoice] = useThemeChoice();
  const other = theme === "dark" ? "light" : "dark";
  return (
    <>
      <Command.Group heading="views">
        {views.map(([word, to]) => (
          <Command.Item
            key={to}
            value={`view ${word}`}
            onSelect={() => {
              void navigate({ to });
              onDone();
            }}
          >
            {word}
          </Command.Item>
        ))}
      </Command.Group>
      <Command.Group heading="actions">
        <Command.Item
          value={`${other} theme`}
          onSelect={() => {
            setChoice(other);
            onDone();
          }}
        >
          <Icon name="theme" size={14} /> {other} theme
        </Command.Item>
        <Command.Item
          value="copy link to this page"
          onSelect={() => {
            void navigator.clipboard.writeText(window.location.href);
            onDone();
          }}
        >
          <Icon name="copy" size={14} /> copy a link to this page
        </Command.Item>
      </Command.Group>
    </>
  );
}
