import type { TransferFault } from './events.ts'
import type { PastTurn } from './resumption.ts'

/** Why a call could not be put through. */
export const TRANSFER_FAULTS = ['busy', 'no_answer', 'declined', 'failed'] as const satisfies readonly TransferFault[]

const WHY: Record<TransferFault, string> = {
  busy: 'the line is busy',
  no_answer: 'nobody answers',
  declined: 'nobody there could take it',
  failed: 'the connection failed',
}

const THROUGH = 'The call is being put through to '

/** What is written down of a call that is on its way to a number. */
export function throughTo(target: string): string {
  return `${THROUGH}${target}.`
}

/** The number that a call was on its way to when this was written down; null when it was not. */
export function targetIn(text: string): string | null {
  return text.startsWith(THROUGH) ? text.slice(THROUGH.length, -1) : null
}

/** What is written down of a call that nobody took. */
export function wasNotThrough(why: TransferFault): string {
  return `The call could not be put through: ${WHY[why]}.`
}

/** Whether a turn is a note of ours that nobody took the call. */
export function isNotThrough(turn: Pick<PastTurn, 'role' | 'text'>): boolean {
  return faultIn(turn) !== null
}

function faultIn({ role, text }: Pick<PastTurn, 'role' | 'text'>): TransferFault | null {
  return TRANSFER_FAULTS.find((fault) => role === 'system' && wasNotThrough(fault) === text) ?? null
}

/**
 * To whom a call was not put through by the newest of its turns, and why: of one that was on its way they do not say it, nor that it
 * was not, and its carrier may have. Null for any other.
 */
export function notThroughIn(
  turns: readonly PastTurn[],
  told: TransferFault | null,
): { target: string; why: TransferFault; isNoted: boolean } | null {
  const newest = turns.at(-1)
  if (newest?.role !== 'system') return null
  const why = faultIn(newest)
  const wanted = why ? turns.findLast(({ role, text }) => role === 'system' && targetIn(text) !== null) : newest
  const target = wanted ? targetIn(wanted.text) : null
  return target === null ? null : { target, why: why ?? told ?? 'no_answer', isNoted: why !== null }
}

/** What the agent is told when it has the call again. */
export function notThrough(target: string, why: TransferFault): string {
  return `The call could not be put through to ${target}: ${WHY[why]}. Tell the caller so in one sentence, say that you are sorry, and ask how else you can help.`
}
