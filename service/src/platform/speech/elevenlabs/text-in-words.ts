/** Cuts a text that comes in pieces between its words: the provider takes each piece for whole words. */
export class TextInWords {
  #open = ''

  /** All whole words so far that were not taken, the white space behind them included; empty when there is none. */
  add(text: string): string {
    this.#open += text
    const end = this.#open.search(/\s\S*$/u) + 1
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
