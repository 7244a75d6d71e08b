import type { LiveNote, SessionEffect } from '../session/events.ts'
import { withoutWords } from './without-words.ts'

const WORDLESS = new Set<LiveNote['type']>(['state', 'tool', 'latency', 'timeline', 'interrupted', 'answered'])

/** What a reducer did that threw. */
export const FAILED = '!'

/**
 * Effects in a line, to be compared with those of another run: all that they are but for texts, of which only the length is told.
 * Nothing reads it back.
 */
export function sketchOf(effects: readonly SessionEffect[]): string {
  if (effects.length === 0) return ''
  let sketch = ''
  for (const effect of effects) sketch += (sketch === '' ? '' : ' ; ') + one(effect)
  return sketch
}

/** Those that come with every piece of audio are written by hand. */
function one(effect: SessionEffect): string {
  if (effect.type === 'arm') return `+${effect.timer} ${effect.ms}`
  if (effect.type === 'disarm') return `-${effect.timer}`
  if (effect.type === 'note' && effect.note.type === 'turn_delta')
    return `~${effect.note.itemId} ${effect.note.text.length}`
  if (effect.type === 'note' && WORDLESS.has(effect.note.type)) return JSON.stringify(effect.note)
  return JSON.stringify(withoutWords(effect, lengthOf))
}

function lengthOf(words: string): string {
  return `#${words.length}`
}
