// Files of OTLP: requests as JSON, one a line as OpenTelemetry's own collector writes them or one in the whole file, and
// requests in protobuf, of which any number one after the other are one.

import { type Detection, type FileHead, type FileKind, startsObject, sureness } from "#protocol/file-kind.ts";
import { checkJsonFile, checkJsonLines, checkProtobufFile } from "./check.ts";
import { JsonFileReader, JsonLineReader, ProtobufFileReader } from "./read-files.ts";
import { signalOfName, signalOfText } from "./signal-of.ts";

const lineFile: FileKind = {
  name: "otlp_lines",
  read: (file, options) => new JsonLineReader(file, options),
  check: checkJsonLines,
};

const jsonFile: FileKind = {
  name: "otlp_json",
  read: (file, options) => new JsonFileReader(file, options),
  check: checkJsonFile,
};

const protobufFile: FileKind = {
  name: "otlp_protobuf",
  read: (file, options) => new ProtobufFileReader(file, options),
  check: checkProtobufFile,
};

export function detectOtlp({ name, text }: FileHead): Detection | null {
  if (signalOfName(name) !== null) return { kind: protobufFile, sure: sureness.name };
  if (!startsObject(text) || signalOfText(text) === null) return null;
  // A request that is spread over lines has none that is one.
  const [firstLine = ""] = text.trimStart().split("\n");
  const isSpread = text.includes("\n") && !firstLine.trimEnd().endsWith("}");
  return { kind: isSpread ? jsonFile : lineFile, sure: sureness.mark };
}
