import { isClip } from './clip-id.ts'
import type { Entry, Transcript } from './transcript.ts'

/** More than this of a long call no new model session is told; the oldest is left out. */
const MAX_CHARS = 24_000
/** More than this of one turn neither, the newest: it would stand there without whose words they are, and be taken for another's. */
const MAX_TURN_CHARS = 12_000

type Line = Pick<Entry, 'role' | 'text' | 'unheard' | 'isFinal' | 'isKept' | 'isNote'>

/** The conversation as one text for a model that was not there: roles and what was heard; empty when nothing was said. */
export function history({ past, entries }: Transcript): string {
  return shortened(entries.reduce((text, entry) => text + line(entry), past.text)).trimEnd()
}

/** The same conversation once a model session was told it: what plays on may be cut short yet, and was told as heard. */
export function toldWhole(transcript: Transcript): Transcript {
  // Of a clip that is cut short every session is told in any case.
  const isPlaying = ({ role, isFinal, itemId }: Entry) => role === 'agent' && !isFinal && !isClip(itemId)
  return { ...transcript, entries: transcript.entries.map((e) => (isPlaying(e) ? { ...e, isToldWhole: true } : e)) }
}

/** What a model will be told of the past once `entry` belongs to it. */
export function withPast(text: string, entry: Entry): string {
  return shortened(text + line(entry))
}

/** The past of a conversation that another session has had, told in its order. What is too old to be told is not looked through. */
export function pastOf(told: readonly { role: Entry['role']; text: string }[]): string {
  const lines: string[] = []
  let chars = 0
  for (let at = told.length - 1; at >= 0 && chars <= 2 * MAX_CHARS; at--) {
    const { role, text } = told[at] as (typeof told)[number]
    const one = line({ role, text, unheard: '', isFinal: true, isKept: true, isNote: false })
    lines.push(one)
    chars += one.length
  }
  return lines.reduceRight((text, one) => shortened(text + one), '')
}

/**
 * One line, whatever was said: nobody can speak a line in another's name. What the agent is saying right now counts as
 * heard, because its audio plays on while the new session is opened.
 */
function line({ role, text, unheard, isFinal, isKept, isNote }: Line): string {
  const words = (isFinal ? text : text + unheard).replaceAll(/\s+/gu, ' ').trim()
  return words === '' || !(isKept || isNote) ? '' : `${role}: ${newest(words)}\n`
}

function newest(words: string): string {
  return words.length <= MAX_TURN_CHARS ? words : `… ${words.slice(-MAX_TURN_CHARS).toWellFormed()}`
}

function shortened(text: string): string {
  if (text.length <= MAX_CHARS) return text
  const kept = text.slice(-MAX_CHARS)
  return kept.slice(kept.indexOf('\n') + 1)
}
