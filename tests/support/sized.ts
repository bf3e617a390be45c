// How much a test takes that `npm test` runs small and `npm run test:long` runs large.

export function sized(usual: number, long: number): number {
  return process.env["TRIBUTARY_TEST_LONG"] === "1" ? long : usual;
}
