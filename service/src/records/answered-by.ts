/** Who has found out who or what answered: the carrier, or ourselves, from words, from a tone, or from how long somebody spoke. */
export const ANSWERED_BY_SOURCES = ['carrier', 'words', 'tone', 'cadence'] as const
export type AnsweredBySource = (typeof ANSWERED_BY_SOURCES)[number]

/** Who or what answered, and who says so. Both are null where nobody has said anything. */
export type Answered = { answered_by: string | null; answered_by_source: AnsweredBySource | null }

/** What was heard, in words or as a tone, is sure; the carrier listens for longer than we count how long somebody spoke. */
const SURENESS: Record<AnsweredBySource, number> = { cadence: 1, carrier: 2, words: 3, tone: 3 }

/**
 * What is known of who answered once this is told, too. The surer of the two stands, of equally sure ones the later; of two that
 * mean a mailbox the one that knows how its greeting ended. That nobody knows takes the place of nothing.
 */
export function joinAnswered(known: Answered, told: Answered): Answered {
  const stands = isStanding(known, told) ? known : told
  return { answered_by: stands.answered_by, answered_by_source: stands.answered_by_source }
}

function isStanding(known: Answered, told: Answered): boolean {
  if (told.answered_by === null) return true
  if (known.answered_by === null || known.answered_by === 'unknown') return false
  if (told.answered_by === 'unknown') return true
  const more = exactnessOf(known) - exactnessOf(told)
  return isMailbox(known) && isMailbox(told) && more !== 0 ? more > 0 : surenessOf(told) < surenessOf(known)
}

function isMailbox({ answered_by }: Answered): boolean {
  return answered_by?.startsWith('machine') ?? false
}

/** Of two that say the same the one who has heard the greeting out tells more. */
function exactnessOf({ answered_by }: Answered): number {
  return answered_by?.startsWith('machine_end') ? 1 : 0
}

function surenessOf({ answered_by_source }: Answered): number {
  return SURENESS[answered_by_source ?? 'carrier']
}

/** Whether the word for what answered means that nobody can talk to it: `machine_start`, `machine_end_beep`, `fax`, … */
export function isMachine(answeredBy: string | null): boolean {
  return machineOf(answeredBy) !== null
}

/** That word, where it is one of those; else null. */
export function machineOf(answeredBy: string | null): string | null {
  return answeredBy !== null && /^(machine|fax)/.test(answeredBy) ? answeredBy : null
}

/** Whether a person was reached, as far as is known: not by a machine, nor where an assistant has put nobody through. */
export function isReached(answeredBy: string | null): boolean {
  return !isMachine(answeredBy) && answeredBy !== 'screening'
}
