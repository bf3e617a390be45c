// The XTrack doors of a collector, on a free port and open to everyone on this machine.

import { nowNs } from "#base/clock.ts";
import type { Control } from "#control/control.ts";
import { toGroupKey } from "#intake/xtrack/group-keys.ts";
import type { Collector } from "#server/collector/collector.ts";
import { createAccess } from "#server/http/access.ts";
import { LoggedOut } from "#server/http/logged-out.ts";
import { UnfinishedBytes } from "#server/unfinished-bytes.ts";
import { openXtrackDoors, type XtrackDoors } from "#server/xtrack/doors.ts";

export function openTestDoors(collector: Collector, desk: Control, unixPath = ""): Promise<XtrackDoors> {
  return openXtrackDoors({
    config: {
      xtrackAddress: { host: "127.0.0.1", port: 0 },
      xtrackUnixPath: unixPath,
      xtrackAcks: "asked",
      xtrackConnectionsMax: 1000,
      firstFrameTimeoutMs: 5000,
      frameBytesMax: 64 * 1024 * 1024,
      memoryBudgetBytes: 256 * 1024 * 1024,
    },
    access: createAccess(
      {
        keys: { list: () => [], add: async () => undefined, revoke: async () => false, noteUse: () => undefined },
        loginSecret: new Uint8Array(32),
        loggedOut: new LoggedOut(null),
        ownerSecret: "",
      },
      { authLoopback: "open", workspace: "default" },
    ),
    intake: {
      submit: (input, decoded) => collector.submit(input, decoded),
      hasRoom: () => true,
      runOf: (workspace, runId) => collector.applier.state.runOf(toGroupKey(workspace, runId)) ?? runId,
      isFollowed: () => false,
      nowNs,
    },
    desk,
    unfinished: new UnfinishedBytes(256 * 1024 * 1024),
  });
}
