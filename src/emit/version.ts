// The version every client header and batch carries. A test keeps it equal to package.json.

export const sdkVersion = "0.1.0";
