import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates, TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { certificate, openssl } from "../../tests/support/certificate.ts";
import { sendMail } from "./mail.ts";

const reach = { isPrivateAllowed: true, hosts: [] };
const mail = {
  to: "ada@example.org",
  subject: "Firing: stall on gpt – süß",
  text: "No new step.\n.\nhttps://t.example",
};

const usualAuthorities = getCACertificates("default");
afterEach(() => setDefaultCACertificates(usualAuthorities));

interface MailServerOptions {
  readonly answers?: Record<string, string>;
  /** `offered`: by STARTTLS. */
  readonly tls?: "offered" | "always";
}

/** A mail server that notes what it is told; an answer may be in several lines and in several pieces. */
async function createMailServer({ answers = {}, tls }: MailServerOptions = {}) {
  const lines: string[] = [];
  let isData = false;
  const talk = (socket: Socket, isSafe: boolean) => {
    let rest = "";
    socket.on("data", (chunk) => {
      const all = (rest + chunk.toString("latin1")).split("\r\n");
      rest = all.pop() ?? "";
      for (const line of all) {
        lines.push(line);
        if (isData && line !== ".") continue;
        const word = isData ? "." : (line.split(" ")[0] ?? "");
        isData = word === "DATA";
        if (word === "STARTTLS") {
          socket.removeAllListeners("data");
          socket.write("220 go on\r\n");
          talk(new TLSSocket(socket, { ...certificate(), isServer: true }), true);
          return;
        }
        const usual: Record<string, string> = {
          EHLO: `250-mail.example\r\n${tls === "offered" && !isSafe ? "250-STARTTLS\r\n" : ""}250 SIZE 1000`,
          AUTH: "235 welcome",
          DATA: "354 go on",
          QUIT: "221 bye",
        };
        socket.write(`${answers[word] ?? usual[word] ?? "250 fine"}\r\n`);
      }
    });
    socket.on("error", () => undefined);
  };
  const greet = (socket: Socket) => {
    socket.write("220 mail.example ready\r\n");
    talk(socket, tls === "always");
  };
  const server = tls === "always" ? createTlsServer(certificate(), greet) : createServer(greet);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `${tls === "always" ? "smtps" : "smtp"}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, lines, close: () => server.close() };
}

test("a mail is handed over with its text unharmed", async () => {
  const server = await createMailServer();
  await sendMail({ url: server.url, from: "t@example.org" }, mail, reach);
  server.close();
  expect(server.lines.slice(0, 4)).toEqual([
    "EHLO tributary",
    "MAIL FROM:<t@example.org>",
    "RCPT TO:<ada@example.org>",
    "DATA",
  ]);
  const blank = server.lines.indexOf("");
  const body = server.lines.slice(blank + 1, server.lines.indexOf("."));
  expect(Buffer.from(body.join(""), "base64").toString()).toBe(mail.text);
  const subject = server.lines.find((line) => line.startsWith("Subject: "))?.slice("Subject: =?UTF-8?B?".length, -2);
  expect(Buffer.from(subject ?? "", "base64").toString()).toBe(mail.subject);
});

test("what the server refuses is told in its own words", async () => {
  const server = await createMailServer({ answers: { RCPT: "550 no such user" } });
  await expect(sendMail({ url: server.url, from: "t@example.org" }, mail, reach)).rejects.toThrow("550 no such user");
  server.close();
});

test("a mail that the server has taken is sent, also if the server then goes away without a word", async () => {
  const server = await createMailServer({ answers: { QUIT: "421 closing" } });
  await sendMail({ url: server.url, from: "t@example.org" }, mail, reach);
  server.close();
  expect(server.lines.at(-1)).toBe("QUIT");
});

test("a password is not sent without TLS", async () => {
  const server = await createMailServer();
  const url = server.url.replace("smtp://", "smtp://ada:secret@");
  await expect(sendMail({ url, from: "t@example.org" }, mail, reach)).rejects.toThrow("offers no TLS");
  expect(server.lines.join()).not.toContain("AUTH");
  server.close();
});

test.skipIf(openssl === undefined).each(["offered", "always"] as const)(
  "a password and a mail are sent under TLS that is %s",
  async (tls) => {
    setDefaultCACertificates([...usualAuthorities, certificate().cert]);
    const server = await createMailServer({ tls });
    const url = server.url.replace("://", "://ada:s%C3%BC%C3%9F@");
    await sendMail({ url, from: "t@example.org" }, mail, reach);
    server.close();
    const login = server.lines.find((line) => line.startsWith("AUTH PLAIN "))?.slice("AUTH PLAIN ".length);
    expect(Buffer.from(login ?? "", "base64").toString()).toBe("\0ada\0süß");
    expect(server.lines).toContain("RCPT TO:<ada@example.org>");
  },
);

test.skipIf(openssl === undefined).each(["offered", "always"] as const)(
  "nothing is told to a server whose certificate nobody vouches for (%s)",
  async (tls) => {
    const server = await createMailServer({ tls });
    const url = server.url.replace("://", "://ada:secret@");
    await expect(sendMail({ url, from: "t@example.org" }, mail, reach)).rejects.toThrow(/self-signed/);
    expect(server.lines.join()).not.toContain("AUTH");
    server.close();
  },
);
