/** Behind a blank, or a mark of a script that puts no blanks between its words. */
const LAST_CUT = /[\s、。，！？；：][^\s、。，！？；：]*$/u
/** A text without blanks and marks is not held back for longer than this. */
const MAX_OPEN_CHARS = 40
/** The first half of a character whose other half is still to come. */
const HALF_CHAR = /[\uD800-\uDBFF]$/

/** Cuts a text that comes in pieces between its words: the provider takes each piece for whole words. */
export class TextInWords {
  #open = ''

  /** All whole words so far that were not taken, the white space behind them included; empty when there is none. */
  add(text: string): string {
    this.#open += text
    const end = endOfWords(this.#open)
    const words = this.#open.slice(0, end)
    this.#open = this.#open.slice(end)
    return words
  }

  /** What remains, as words that end here. */
  rest(): string {
    const rest = this.#open
    this.#open = ''
    return rest === '' || /\s$/u.test(rest) ? rest : `${rest} `
  }
}

function endOfWords(text: string): number {
  const end = text.search(LAST_CUT) + 1
  if (text.length - end < MAX_OPEN_CHARS) return end
  return HALF_CHAR.test(text) ? text.length - 1 : text.length
}
