import { WITHOUT_BLANKS } from '../../kernel/writing.ts'
import type { CallerSpeech } from './caller-speech.ts'
import { isOutOfHands, type Step } from './state.ts'

/** Who is heard for longer than this has more to say than "I am listening". */
const LONGEST_MS = 1_000

/** Whether speech over the agent's may only say "go on": its words decide, so it stops nobody before they are there. */
export function mayBeBackchannel(step: Step, { overlaps, loudMs }: CallerSpeech): boolean {
  const { capabilities, interruption } = step.state.plan
  if (interruption.backchannels.length === 0 || !capabilities.callerTranscripts) return false
  return overlaps && loudMs < LONGEST_MS && !isOutOfHands(step)
}

/** Whether a text is nothing but such words, in any number and order. */
export function isBackchannel(text: string, phrases: readonly string[]): boolean {
  const words = wordsOf(text)
  return words.length > 0 && consistsOf(words, phrases.map(wordsOf))
}

/** Each place is asked once, however many ways lead to it: "uh huh" is "uh" and "huh", too. */
function consistsOf(words: readonly string[], phrases: readonly string[][]): boolean {
  const ends = new Set([0])
  for (const end of ends) {
    for (const phrase of phrases) if (phrase.length > 0 && standsAt(words, end, phrase)) ends.add(end + phrase.length)
  }
  return ends.has(words.length)
}

function standsAt(words: readonly string[], at: number, phrase: readonly string[]): boolean {
  return phrase.every((word, index) => words[at + index] === word)
}

/** Where writing has no blanks between its words each sign stands for itself: "うんうん" is "うん", twice. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKC').toLowerCase()
  const runs = plain.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return runs.flatMap((run) => (WITHOUT_BLANKS.test(run) ? [...run] : [run]))
}
