// Mail by SMTP, as much of it as a message of a rule needs: one recipient, STARTTLS where it is offered, AUTH PLAIN.
// Written here because the conversation is ten lines long and a library would be the largest dependency of the server.

import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type Reach, toAddresses, toLookup } from "./reach.ts";

export interface MailServer {
  /** `smtp://user:password@host:587` or `smtps://host`. */
  readonly url: string;
  readonly from: string;
}

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

const timeoutMs = 20_000;

export async function sendMail(server: MailServer, mail: Mail, reach: Reach): Promise<void> {
  const { protocol, hostname, port, username, password } = new URL(server.url);
  const isTls = protocol === "smtps:";
  const lookup = toLookup(await toAddresses(hostname, reach));
  // An address is not a valid name for the server.
  const shown = { host: hostname, ...(isIP(hostname) === 0 ? { servername: hostname } : {}) };
  const options = { ...shown, port: Number(port) || (isTls ? 465 : 587), lookup };
  let talk = new Talk(isTls ? connectTls(options) : connect(options));
  try {
    await talk.expect(220);
    let offers = await talk.say("EHLO tributary", 250);
    if (!isTls && /STARTTLS/i.test(offers)) {
      await talk.say("STARTTLS", 220);
      talk = new Talk(connectTls({ ...shown, socket: talk.release() }));
      offers = await talk.say("EHLO tributary", 250);
    } else if (!isTls && username !== "")
      throw new Error("The mail server offers no TLS, and a password is not sent without.");
    if (username !== "") {
      const login = `\0${decodeURIComponent(username)}\0${decodeURIComponent(password)}`;
      await talk.say(`AUTH PLAIN ${Buffer.from(login).toString("base64")}`, 235);
    }
    await talk.say(`MAIL FROM:<${oneLine(server.from)}>`, 250);
    await talk.say(`RCPT TO:<${oneLine(mail.to)}>`, 250);
    await talk.say("DATA", 354);
    await talk.say(`${toLines(server.from, mail)}\r\n.`, 250);
    // The server has the mail: however it answers now, the mail must not be sent again.
    await talk.say("QUIT", 221).catch(() => undefined);
  } finally {
    talk.close();
  }
}

/** Nothing of a message may end its line and begin a command of its own. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, " ");
}

function toLines(from: string, { to, subject, text }: Mail): string {
  const title = `=?UTF-8?B?${Buffer.from(oneLine(subject).slice(0, 200)).toString("base64")}?=`;
  const body = Buffer.from(text)
    .toString("base64")
    .replaceAll(/(.{76})/g, "$1\r\n");
  return [
    `From: Tributary <${oneLine(from)}>`,
    `To: <${oneLine(to)}>`,
    `Subject: ${title}`,
    `Date: ${new Date().toUTCString()}`,
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: base64",
    "",
    body,
  ].join("\r\n");
}

/** One command, one answer. */
class Talk {
  private readonly socket: Socket;
  private text = "";
  private problem: Error | null = null;
  private wake: () => void = () => undefined;
  private readonly onData = (chunk: Buffer): void => {
    this.text += chunk.toString("latin1");
    this.wake();
  };

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error("The mail server does not answer.")));
    socket.on("data", this.onData);
    socket.on("error", (error) => this.fail(error));
    socket.on("close", () => this.fail(new Error("The mail server closed the connection.")));
  }

  async say(line: string, code: number): Promise<string> {
    this.socket.write(`${line}\r\n`);
    return this.expect(code);
  }

  /** The lines of an answer all begin with its code; in the last one a blank follows it. */
  async expect(code: number): Promise<string> {
    for (;;) {
      const end = /^(\d{3}) .*\r\n/m.exec(this.text);
      if (end !== null) {
        const answer = this.text.slice(0, end.index + end[0].length);
        this.text = this.text.slice(answer.length);
        if (Number(end[1]) !== code) throw new Error(`The mail server answered: ${end[0].trim()}`);
        return answer;
      }
      if (this.problem !== null) throw this.problem;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  /** Gives the socket to TLS. */
  release(): Socket {
    this.socket.off("data", this.onData);
    return this.socket;
  }

  close(): void {
    this.socket.destroy();
  }

  private fail(error: Error): void {
    this.problem ??= error;
    this.wake();
  }
}
