// The least that Node itself needs for the same traffic, to compare the server's figures with: `tcp` parses each frame by
// itself, `http` reads, inflates and parses each body and answers it. Nothing is kept, synced or stored.
//
// Usage: node bench/support/bare-server.ts tcp|http; prints the port, ends when its input does.

import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { gunzipSync } from "node:zlib";

const lengthBytes = 4;
let records = 0;

function createTcp(): Server {
  return createServer((socket) => {
    socket.on("data", (chunk) => {
      for (let at = 0; at + lengthBytes <= chunk.length; ) {
        const end = at + lengthBytes + chunk.readUInt32BE(at);
        JSON.parse(chunk.toString("utf8", at + lengthBytes, end));
        records++;
        at = end;
      }
    });
    socket.on("error", () => socket.destroy());
  });
}

function createHttp(): Server {
  return createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      JSON.parse(bodyOf(request, Buffer.concat(chunks)).toString());
      records++;
      response.writeHead(202, { "content-type": "application/json" });
      response.end('{"accepted":1}');
    });
  });
}

function bodyOf({ headers }: IncomingMessage, body: Buffer): Buffer {
  return headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
}

const server = process.argv[2] === "tcp" ? createTcp() : createHttp();
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
process.stdin.resume();
process.stdin.on("end", () => {
  if (records === 0) throw new Error("nothing came");
  process.exit(0);
});
