import type { RunFolder } from './run-folder.ts'

/** What a need may use to start: a folder of its run, and a signal that says when to give up. */
export type NeedContext = { folder: RunFolder; signal: AbortSignal }

/** Something the tests need beside Node: variables that tell them where it is, and how to end it. */
export type Need = { env: Record<string, string>; stop: () => Promise<void> }

/** A need that cannot be met here; the message is the whole of what the user is told. */
export class UnmetNeed extends Error {
  override name = 'UnmetNeed'
}
