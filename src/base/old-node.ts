// Which Node the program needs; a test keeps it equal to `engines` in package.json. Written so that an old Node can run it.

export const oldestNode = "22.18";

/** What to tell a person whose Node is too old; '' when it is not. */
export function toOldNodeSentence(version: string): string {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [majorMin = 0, minorMin = 0] = oldestNode.split(".").map(Number);
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return "";
  return `tributary needs Node ${oldestNode} or later, and this is Node ${version}. Get a newer one from https://nodejs.org`;
}
