import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import type { Run } from "#api/contract/run.ts";
import type { Context } from "#cli/context.ts";
import { createBar } from "./progress.ts";

it("goes by the newest total, which a run may change on its way", () => {
  const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const bar = createBar({ stderr: screen, stdout: screen } as unknown as Context);
  const update = (current: number, total: number) =>
    bar?.update({ progress: { current, total, message: `${current} of ${total}` } } as Run);
  update(50, 100);
  update(50, 200);
  bar?.stop();
  const shown = screen.read().toString() as string;
  expect(shown).toContain("50% 50 of 100");
  expect(shown).toContain("25% 50 of 200");
});
