import { asksToWait, readWords } from './phrases.ts'

/**
 * What the words of who answered tell of it. `waiting`: they ask to wait, which tells nothing · `other`: what anybody may say.
 */
export type PartySaid = 'voicemail' | 'screening' | 'ivr' | 'waiting' | 'other'

/** A greeting is in few pieces. */
const MAX_PIECES = 6

/**
 * Reads what is said by who answered, piece by piece: of a mailbox that pauses the pieces together tell what each of them does not.
 * Out of the session, which is to be run again without anybody's words.
 */
export class PartyWords {
  #pieces: string[] = []

  /** What is known with these words; null of no words. */
  add(text: string): PartySaid | null {
    if (text.trim() === '') return null
    const alone = readWords(text)
    const together = alone ?? readWords([...this.#pieces, text].join(' '))
    // What was read once is not read again of what follows it.
    this.#pieces = together === null ? [...this.#pieces, text].slice(-MAX_PIECES) : []
    return together ?? (asksToWait(text) ? 'waiting' : 'other')
  }
}
