// When the server asks for a key, nothing but this form is shown.

import { type ReactNode, useState } from "react";
import { Refusal } from "../data/client.ts";
import { useApi, useChange } from "../data/use-api.ts";
import { Button } from "../part/button.tsx";
import { Form, TextField } from "../part/field.tsx";
import { Problem } from "../part/notice.tsx";

export function LoginGate({ children }: { readonly children: ReactNode }) {
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
