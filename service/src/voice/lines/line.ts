import type { TenantId } from '../../kernel/ids.ts'

/** Some ms of a call, as base64 µ-law: what the caller says, and what the caller hears. Either may be empty. */
export type AudioBatch = {
  /** Since the line was opened, to the first sample. */
  atMs: number
  inbound: string
  outbound: string
}

/** Somebody's line into a live call: to listen to both sides, or to speak with the caller in the agent's place. */
export type WantedLine = {
  tenantId: TenantId
  streamSid: string
  kind: 'listen' | 'takeover'
  /** Who it is; null when nobody said. A node of the version before leaves it out. */
  supervisor?: string | null
}

/** What whoever is on a line is told. `over` comes once, last: the call is over, was given back, or cannot be reached. */
export type LineListener = {
  audio(batch: AudioBatch): void
  over(why: LineEnd): void
}

export type LineEnd = 'ended' | 'released' | 'broken'

/** An open line. */
export type Line = {
  callSid: string
  /** Of one into a call of another node: its name there. Both nodes may note its end, and by this name it is kept once. */
  lineId?: string
  /** What the person says, as base64 µ-law: a view that is only valid now. Of who listens only, nothing is heard. */
  speak(payload: Buffer): void
  /** The person is gone: by their own will, or their connection was lost. Again, and after `over`, it changes nothing. */
  close(how: 'released' | 'lost'): void
}

/**
 * Opens lines into the tenant's live calls.
 *
 * The function throws AppError `not_found`; `conflict` for a call that is ending, and for one to be taken over that nobody hears or
 * that somebody has; `unavailable` where the call's node does not answer or has no room for another line.
 */
export type OpenLine = (wanted: WantedLine, listener: LineListener) => Promise<Line>
