// Node's HTTP without an import of it: that makes Node look at every name of the module, and for one of them, `WebSocket`, it
// loads its whole `fetch`, which takes a sixth of a server's start and a third of its engine's.

export const {
  Agent: HttpAgent,
  createServer: createHttp,
  request: requestHttp,
} = process.getBuiltinModule("node:http");
