// Node's HTTP without an import: an import makes Node evaluate every export of the module, and one of them, `WebSocket`, loads
// all of `fetch`, which takes a large part of the start of a server and its engine.

export const {
  Agent: HttpAgent,
  createServer: createHttp,
  request: requestHttp,
} = process.getBuiltinModule("node:http");
