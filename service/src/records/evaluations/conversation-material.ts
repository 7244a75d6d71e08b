import type { ReadableConversation } from './conversation.ts'

/** More than this no model reads with care; of a longer conversation the middle is left out. */
const MAX_TRANSCRIPT_CHARS = 60_000
/** Of what is kept of a long one: how much of its beginning. */
const BEGINNING_SHARE = 0.3

/**
 * A conversation as a model is shown it, to become JSON: facts of its call, who said what, and which functions were called. Of a
 * long one the middle is left out. No number of a caller is in it but those that were said.
 */
export function materialOf({ session, turns, calls }: ReadableConversation) {
  return {
    call: {
      agent_name: session.agent_name,
      direction: session.direction,
      duration_seconds: session.duration_seconds,
      end_reason: session.end_reason,
    },
    transcript: shortened(turns.map(lineOf)),
    function_calls: calls.map(({ name, status }) => ({ name, status })),
  }
}

type Line = { role: string; text: string; interrupted: boolean }

function lineOf({ role, text, interrupted }: Line): Line {
  const isUnwritten = role === 'caller' && text === ''
  return { role, text: isUnwritten ? '[what the caller said here was not written down]' : text, interrupted }
}

function shortened(lines: Line[]): Line[] {
  if (charsOf(lines) <= MAX_TRANSCRIPT_CHARS) return lines
  const beginning = upTo(lines, MAX_TRANSCRIPT_CHARS * BEGINNING_SHARE)
  const end = upTo(
    lines.slice(beginning.length).toReversed(),
    MAX_TRANSCRIPT_CHARS * (1 - BEGINNING_SHARE),
  ).toReversed()
  const left = lines.length - beginning.length - end.length
  return [...beginning, { role: 'system', text: `[${left} turns are left out here]`, interrupted: false }, ...end]
}

function charsOf(lines: Line[]): number {
  return lines.reduce((sum, { text }) => sum + text.length, 0)
}

/** The first lines that have no more characters than this together. */
function upTo(lines: Line[], chars: number): Line[] {
  let left = chars
  const kept = lines.findIndex(({ text }) => {
    left -= text.length
    return left < 0
  })
  return kept === -1 ? lines : lines.slice(0, kept)
}
