// A rule has just fired: shown on every page, until it is read or a newer one comes.

import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { Alert } from "#api/contract/rule.ts";
import { useLiveEvents } from "../../data/use-live.ts";
import { useRunNames } from "../../data/use-run-names.ts";
import { IconButton } from "../../part/button.tsx";
import { Icon } from "../../part/icon.tsx";
import "./rules.css";

const shownMs = 20_000;

export function AlertToast() {
  const [alert, setAlert] = useState<Alert | null>(null);
  useLiveEvents((event) => {
    if (event.name !== "alert") return;
    setAlert((shown) => (event.data.resolved_ns === null ? event.data : shown?.id === event.data.id ? null : shown));
  });
  useEffect(() => {
    if (alert === null) return;
    const timer = setTimeout(() => setAlert(null), shownMs);
    return () => clearTimeout(timer);
  }, [alert]);
  const nameOf = useRunNames([alert?.run ?? null]);
  if (alert === null) return null;
  return (
    <div className="row alert-toast panel" role="alert">
      <Icon name="flag" size={14} />
      <Link to="/runs/$id" params={{ id: alert.run }} className="grow" onClick={() => setAlert(null)}>
        <strong>{alert.rule}</strong> {nameOf(alert.run)}: {alert.text}
      </Link>
      <IconButton icon="cross" label="Close" onClick={() => setAlert(null)} />
    </div>
  );
}
