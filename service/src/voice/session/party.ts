/** Who or what answered a call that was placed, in the carriers' own words where they have one. */
export const ANSWERED_BY = [
  'human',
  'machine_start',
  'machine_end_beep',
  'machine_end_silence',
  'machine_end_other',
  'screening',
  'ivr',
  'fax',
] as const
/** One of them. */
export type AnsweredBy = (typeof ANSWERED_BY)[number]

/** What it was read from: what was said, a tone, or only how long somebody spoke. */
export type ReadFrom = 'words' | 'tone' | 'cadence'

/**
 * What is being found out of who answered. reading: nobody knows yet, or it is a person as far as is known · beep: a mailbox, whose
 * beep is waited for · screening: an assistant asks the person behind it · settled: nothing more is looked at.
 */
export type Party = {
  readonly phase: 'reading' | 'beep' | 'screening' | 'settled'
  readonly by: AnsweredBy | null
  readonly from: ReadFrom | null
  /** How much was said so far, and whether somebody speaks now. */
  readonly speechMs: number
  readonly isSpeaking: boolean
  /** When it last became quiet; null before that. */
  readonly quietSinceMs: number | null
  /** A tone was heard, and nothing was said since. */
  readonly hasBeeped: boolean
  /** The agent has answered what was said last. */
  readonly isAnswered: boolean
  readonly sinceMs: number
}

/** Whether the line is still listened to. */
export function isPartyRead({ party, phase }: { party: Party | null; phase: string }): boolean {
  return party !== null && party.phase !== 'settled' && phase !== 'ended'
}

/** Whether what answered is nobody to talk to by now: it is asked nothing, and not answered. */
export function isAwaited({ party }: { party: Party | null }): boolean {
  return party?.phase === 'beep'
}
