import type { TransferFault } from './events.ts'

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

/** What the agent is told when it has the call again. */
export function notThrough(target: string, why: TransferFault): string {
  return `The call could not be put through to ${target}: ${WHY[why]}. Tell the caller so in one sentence, say that you are sorry, and ask how else you can help.`
}
