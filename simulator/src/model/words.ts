const KEY_WORDS = /\b(dtmf|keypad|keys?|digits?|press(es|ed)?|enter(s|ed)?|tones?|dial(s|ed)?)\b/i
const KEY_RUN = /[0-9*#](?:[ ,]{0,2}[0-9*#])*/g
const QUOTED =
  /\b(?:say|says|greet|tell|speak|read|ask|answer|reply|exactly|verbatim|words)\b[^"“«]{0,120}["“«]([^"”»]+)["”»]/is
const EXACTLY = String.raw`\b(?:exactly|verbatim|word for word)\b[^:"“«]{0,60}:\s*`
const EXACTLY_QUOTED = new RegExp(`${EXACTLY}["“«]([^"”»]+)["”»]`, 'is')
const EXACTLY_THE_REST = new RegExp(`${EXACTLY}([^"“«].*)$`, 'is')
const OPENING = /\b(?:greet|greeting|begin|start|open|opening|first)\b[^"“«]{0,160}["“«]([^"”»]+)["”»]/is

/** The telephone keys that a text tells of (`The caller pressed 4 2 #` → `42#`); null when it tells of none. */
export function keysIn(text: string): string | null {
  if (!KEY_WORDS.test(text)) return null
  const runs = (text.match(KEY_RUN) ?? []).map((run) => run.replaceAll(/[ ,]/g, ''))
  return runs.sort((a, b) => b.length - a.length)[0] ?? null
}

/** The words that an instruction wants said as they stand, in quotes or after `exactly:`; null when it wants none. */
export function wordsToSay(instructions: string): string | null {
  for (const pattern of [EXACTLY_QUOTED, EXACTLY_THE_REST, QUOTED]) {
    const words = pattern.exec(instructions)?.[1]
    if (words !== undefined) return words.trim()
  }
  return null
}

/** The greeting that an agent's own instructions quote, if they do. */
export function greetingIn(instructions: string): string | null {
  return OPENING.exec(instructions)?.[1]?.trim() ?? null
}

/** Whether all words of `phrase` stand in `heard`, one after the other; case and punctuation do not count. */
export function saysPhrase(heard: string, phrase: string): boolean {
  return ` ${plainWords(heard)} `.includes(` ${plainWords(phrase)} `)
}

/** The words of a text in lower case, one space between them, without punctuation. */
export function plainWords(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
