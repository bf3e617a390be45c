// Node's HTTP without an import: an import makes Node look at every name of the module, and for one of them, `WebSocket`, it
// loads its whole `fetch`, a large part of the start of a server and its engine.

export const {
  Agent: HttpAgent,
  createServer: createHttp,
  request: requestHttp,
} = process.getBuiltinModule("node:http");
