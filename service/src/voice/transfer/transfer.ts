import type { TransferFault } from '../session/events.ts'

/** To whom a call is to be put through. `isWarm`: they are rung first, hear the summary, and say whether they take it. */
export type TransferRequest = { target: string; summary: string; isWarm: boolean }

/** What becomes of a transfer once it has begun. */
export type TransferNews = {
  /** The carrier is about to take the call to the target. False where it is not to be put through any more. */
  sent(): boolean
  /** The target has the call. */
  through(): void
  failed(why: TransferFault): void
  /** The target had taken the call and is gone: nobody is with the caller, whom the carrier is to bring back. */
  gone(): void
}

/** A transfer that has begun. Again, neither changes anything. */
export type BegunTransfer = {
  /** The target is not to have the call: it is rung no more, and not left alone with what it was told. */
  cancel(): void
  /** Nobody here follows it any more, though the call goes on: a target that has taken it keeps it. */
  leave(): void
}

/** What puts one call through. */
export type CallTransfer = {
  /** @throws AppError `invalid_request` for a target to which the tenant's calls are not transferred. */
  expectTarget(target: string): void
  /** Resolves when the carrier has begun with it. @throws AppError `upstream_failed` when it has not. */
  begin(id: string, request: TransferRequest, news: TransferNews): Promise<BegunTransfer>
  /** Writes down that somebody else has the call. Never waits, never throws. */
  putThrough(): void
}
