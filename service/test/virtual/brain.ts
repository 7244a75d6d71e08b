/** One line of a conversation, as a model knows it. */
export type Line = { role: string; text: string }

/**
 * What the model does when it is asked: speaks, calls a tool, or both; `also`: a second tool, called with the first, so long after it. `ahead`: what it says
 * before it thinks about that, in an item of its own, which it names as such or not.
 */
export type Answer = {
  text: string
  tool?: string | undefined
  also?: string | undefined
  alsoAfterMs?: number | undefined
  ahead?: Ahead | undefined
}
export type Ahead = { text: string; thinkMs: number; isNamed: boolean }

/** Answers a conversation. `instructions` are for this answer alone. */
export type Brain = (lines: readonly Line[], instructions: string | null) => Answer

/** How long it takes to say a text. */
export function spokenMs(text: string): number {
  return Math.max(400, Math.round((text.length * 60) / 20) * 20)
}

/** A conversation that was told in words is known as lines again. */
export function linesOf(history: string): Line[] {
  return history.split('\n').map((line) => {
    const at = line.indexOf(': ')
    return { role: line.slice(0, at), text: line.slice(at + 2) }
  })
}

const BY_INSTRUCTION: readonly [pattern: RegExp, say: (match: RegExpMatchArray) => string][] = [
  [/Say exactly this, and nothing else: (.*)/, (match) => match[1] ?? ''],
  [/say it again/, () => 'Sorry, could you say that again?'],
  [/still there/, () => 'Are you still there?'],
  [/[Ss]ay.* goodbye/, () => 'Goodbye then.'],
  [/takes a (moment|little longer)/, () => 'One moment, please.'],
  [/Greet/, () => 'Hello, how can I help you?'],
]

const OPENING_HOURS =
  'We are open from Tuesday to Sunday, from noon until ten in the evening, and the kitchen takes the last orders at half past nine every day.'
const TABLE =
  'Yes, there is a table for two at the window at eight, and another one in the garden at half past eight. Shall I book one for you?'

/** A restaurant: opening hours, a booking by a tool, a number by keys, a goodbye. */
export const restaurant: Brain = (lines, instructions) => {
  if (instructions && /before your greeting/.test(instructions)) return answerTo(untilCaller(lines))
  const exact = instructions?.match(/exactly as it stands here: (.*)/)?.[1]
  if (exact !== undefined) return { text: unsaidPart(exact, lines) }
  if (instructions && /[Gg]o on from|use it now/.test(instructions)) return restOf(lines)
  if (instructions && /Then answer/.test(instructions)) return answerTo(untilCaller(lines))
  for (const [pattern, say] of BY_INSTRUCTION) {
    const match = instructions?.match(pattern)
    if (match) return { text: say(match) }
  }
  return answerTo(lines)
}

/** What is left of exact words behind what was said of them last, or all of them. */
function unsaidPart(exact: string, lines: readonly Line[]): string {
  const said = lines.findLast(({ role, text }) => role === 'agent' && text !== '')?.text.trim() ?? ''
  return exact.startsWith(said) ? exact.slice(said.length).trim() : exact
}

/** What was left unsaid of the last answer, with what was to be done. */
function restOf(lines: readonly Line[]): Answer {
  const { tool } = answerTo(untilCaller(lines))
  return { text: 'So much for that.', tool }
}

function untilCaller(lines: readonly Line[]): readonly Line[] {
  return lines.slice(0, lines.findLastIndex(({ role }) => role !== 'agent') + 1)
}

function answerTo(lines: readonly Line[]): Answer {
  // What is told of what was heard asks for nothing.
  const last = lines.findLast(({ text }) => !text.includes('were cut short')) ?? { role: 'nobody', text: '' }
  const isBooked = lines.some(({ text }) => text.includes('book_table has answered'))
  if (last.role === 'agent') return { text: 'What else can I do for you?' }
  if (last.text.includes('opening hours')) return { text: OPENING_HOURS }
  if (last.text.includes('table for two')) return { text: TABLE }
  if (last.text.includes('pressed these keys')) return { text: 'Thank you. Is there anything else that I can do?' }
  if (last.text.includes('book_table has answered') || (last.text.includes('book it') && isBooked)) {
    return { text: 'Your table is booked. Please type your number and the pound key.' }
  }
  if (lines.some(({ text }) => text.includes('book_table was called'))) return { text: 'I am booking it right now.' }
  if (last.text.includes('book it')) return { text: 'I will see to that.', tool: 'book_table' }
  if (last.text.includes('goodbye')) return { text: 'Goodbye, and see you tonight.', tool: 'end_call' }
  return { text: 'I did not hear you well. Could you say that again?' }
}
