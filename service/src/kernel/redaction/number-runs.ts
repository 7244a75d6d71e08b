import type { Piece } from './amounts.ts'
import type { Token } from './tokens.ts'

/** Digits that were written or said as one: `4111`, "four", "double five". */
export type Group = { digits: string; isSpoken: boolean }

/** Groups of digits that nothing but separators and fillers parts. */
export type NumberRun = {
  start: number
  end: number
  firstToken: number
  lastToken: number
  groups: Group[]
  hasPlus: boolean
}

/** What may stand between two groups of one number, at most so many characters of it. */
const SEPARATORS =
  /^[\s\-\u2010-\u2015\u2212\uff0d.,\uff0e、，،·•・/()（）_…+*#\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]*$/u
const MAX_SEPARATOR_CHARS = 6
/** "10, +1 202 555 0101": a plus that stands apart from what is before it, with a whole number behind it, begins that number. */
const PLUS_APART = /[\s,]\+\(?$/
const WHOLE_NUMBER = /^\+\(?\d(?:[\s\-.()/]{0,3}\d){6}/
const WHOLE_NUMBER_CHARS = 40
/** "four one, uh, sorry, no, five": more than so many words that are no number part two numbers. */
const MAX_FILLERS = 3

/**
 * The runs of digits in a text, in order, in one pass over its tokens. `pieces`: where digits belong to no run.
 */
export function numberRuns(text: string, tokens: readonly Token[], pieces: readonly Piece[]): NumberRun[] {
  const runs: NumberRun[] = []
  let open: OpenRun | null = null
  let piece = 0
  const close = () => {
    const run = open?.closed()
    if (run) runs.push(run)
    open = null
  }
  for (const [at, token] of tokens.entries()) {
    while ((pieces[piece]?.end ?? Number.POSITIVE_INFINITY) <= token.start) piece += 1
    const isUnnaming = token.start >= (pieces[piece]?.start ?? Number.POSITIVE_INFINITY)
    if (isUnnaming || !isNumeric(token)) {
      close()
      continue
    }
    if (open && !isJoined(text, tokens[at - 1], token)) close()
    open ??= new OpenRun()
    if (!open.take(token, at)) close()
  }
  close()
  return runs
}

type NumericToken = Extract<Token, { type: 'number' | 'spoken' }>

function isNumeric(token: Token): token is NumericToken {
  return token.type === 'number' || (token.type === 'spoken' && token.word.kind !== 'scale')
}

function isJoined(text: string, before: Token | undefined, { start }: Token): boolean {
  const from = before?.end ?? 0
  if (start - from > MAX_SEPARATOR_CHARS) return false
  const between = text.slice(from, start)
  return SEPARATORS.test(between) && !(PLUS_APART.test(between) && beginsNumber(text, from + between.lastIndexOf('+')))
}

function beginsNumber(text: string, plusAt: number): boolean {
  return WHOLE_NUMBER.test(text.slice(plusAt, plusAt + WHOLE_NUMBER_CHARS))
}

/** A run to which tokens are still added. */
class OpenRun {
  readonly #groups: Group[] = []
  #first: { at: number; start: number } | null = null
  #last: { at: number; end: number } | null = null
  #fillers = 0
  #times = 1
  #hasPlus = false
  /** How many noughts at the end of the last group the next word may take the place of: one of "forty", two of "two hundred". */
  #openDigits = 0
  #isAfterFour = false

  /** @returns false when the run was over before this token. */
  take(token: NumericToken, at: number): boolean {
    if (token.type === 'number') {
      this.#openDigits = 0
      this.#push({ digits: token.digits, isSpoken: false })
      return this.#took(token, at)
    }
    const { word } = token
    switch (word.kind) {
      case 'digit':
      case 'pair':
      case 'tens':
        this.#say(word.digits, token.text)
        return this.#took(token, at)
      case 'hundred':
        this.#sayHundred()
        return this.#took(token, at)
      case 'times':
        this.#times = word.times
        return this.#pass(token, at)
      case 'plus':
        this.#hasPlus ||= this.#groups.length === 0
        return this.#pass(token, at)
      case 'and':
        // Between written numbers it parts them: "5 and 10".
        return this.#groups.at(-1)?.isSpoken === true && this.#pass(token, at)
      default:
        return this.#groups.length > 0 && this.#pass(token, at)
    }
  }

  /** The run up to its last digit; null where it has none. */
  closed(): NumberRun | null {
    if (!this.#first || !this.#last) return null
    const { start, at: firstToken } = this.#first
    const { end, at: lastToken } = this.#last
    return { start, end, firstToken, lastToken, groups: this.#groups, hasPlus: this.#hasPlus }
  }

  #took({ start, end, text }: Token, at: number): true {
    this.#first ??= { at, start }
    this.#last = { at, end }
    this.#fillers = 0
    this.#times = 1
    this.#isAfterFour = text.toLowerCase() === 'quatre'
    return true
  }

  #pass({ start }: Token, at: number): boolean {
    this.#first ??= { at, start }
    this.#fillers += 1
    return this.#fillers <= MAX_FILLERS
  }

  #push(group: Group): void {
    for (let time = 0; time < this.#times; time += 1) this.#groups.push(group)
  }

  #say(digits: string, text: string): void {
    const last = this.#groups.at(-1)
    const isEighty = this.#isAfterFour && digits === '20' && text.toLowerCase().startsWith('vingt')
    const whole = last && (isEighty ? '80' : completed(last.digits, digits, this.#openDigits))
    const isTens = digits.length === 2 && digits.endsWith('0') && digits !== '10'
    if (whole) this.#groups[this.#groups.length - 1] = { digits: whole, isSpoken: true }
    else this.#push({ digits, isSpoken: true })
    this.#openDigits = isTens ? 1 : 0
  }

  #sayHundred(): void {
    const last = this.#groups.at(-1)
    if (last?.isSpoken && last.digits.length <= 2) {
      this.#groups[this.#groups.length - 1] = { digits: `${last.digits}00`, isSpoken: true }
    } else this.#push({ digits: '100', isSpoken: true })
    this.#openDigits = 2
  }
}

/** What a word makes of the number before it; null where it begins one of its own. */
function completed(last: string, digits: string, openDigits: number): string | null {
  if (openDigits === 2) return last.slice(0, -digits.length) + digits
  if (openDigits === 0 || digits === '0') return null
  if (digits.length === 1) return last.slice(0, -1) + digits
  // "soixante-dix-sept", "quatre-vingt-douze".
  const isFrench = digits.startsWith('1') && (last.endsWith('60') || last.endsWith('80'))
  return isFrench ? last.slice(0, -2) + String(Number(last.slice(-2)) + Number(digits)) : null
}
