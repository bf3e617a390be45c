import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { sendMail } from "./mail.ts";

const reach = { isPrivateAllowed: true, hosts: [] };
const mail = {
  to: "ada@example.org",
  subject: "Firing: stall on gpt – süß",
  text: "No new step.\n.\nhttps://t.example",
};

/** A mail server that notes what it is told; an answer may be in several lines and in several pieces. */
async function createMailServer(answers: Record<string, string> = {}) {
  const lines: string[] = [];
  let isData = false;
  const server = createServer((socket) => {
    socket.write("220 mail.example ready\r\n");
    let rest = "";
    socket.on("data", (chunk) => {
      const all = (rest + chunk.toString("latin1")).split("\r\n");
      rest = all.pop() ?? "";
      for (const line of all) {
        lines.push(line);
        if (isData && line !== ".") continue;
        const word = isData ? "." : (line.split(" ")[0] ?? "");
        isData = word === "DATA";
        const usual: Record<string, string> = {
          EHLO: "250-mail.example\r\n250 SIZE 1000",
          DATA: "354 go on",
          QUIT: "221 bye",
        };
        socket.write(`${answers[word] ?? usual[word] ?? "250 fine"}\r\n`);
      }
    });
    socket.on("error", () => undefined);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
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
  const server = await createMailServer({ RCPT: "550 no such user" });
  await expect(sendMail({ url: server.url, from: "t@example.org" }, mail, reach)).rejects.toThrow("550 no such user");
  server.close();
});

test("a password is not sent without TLS", async () => {
  const server = await createMailServer();
  const url = server.url.replace("smtp://", "smtp://ada:secret@");
  await expect(sendMail({ url, from: "t@example.org" }, mail, reach)).rejects.toThrow("offers no TLS");
  expect(server.lines.join()).not.toContain("AUTH");
  server.close();
});
