import { asLine, type ExportedKind } from "#protocol/exported.ts";

export const exportedWrapperLine: ExportedKind = {
  kind: "wrapper",
  joinBy: ({ run = "", wrapper = "" }) => `${run}\n${wrapper}`,
  toBytes: asLine,
  toShipment: ({ wrapper = "" }) => ({ route: "wrapper", source: null, query: { wrapper } }),
};

/** A line of captured output. */
export const exportedOutput: ExportedKind = {
  kind: "log",
  joinBy: ({ run, wrapper, stream, at_ns }) => `${run}\n${wrapper}\n${stream}\n${at_ns}`,
  // A line whose place does not follow from the ones before it (CR LF, another chunk) goes on its own.
  follows: (first, bytes, next) => Number(first.offset) + bytes === Number(next.offset),
  toBytes: (head) =>
    asLine(head, head.base64 === undefined ? Buffer.from(head.text ?? "") : Buffer.from(head.base64, "base64")),
  toShipment({ wrapper = "", stream = "stdout", offset, at_ns }) {
    const when = at_ns === undefined ? {} : { at_ns };
    return { route: "output", source: null, query: { wrapper, stream, offset: Number(offset), ...when } };
  },
};
