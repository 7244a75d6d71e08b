// Longer sentences are cut between words: the voice makes one in memory, and a listener breathes too.
const MAX_LETTERS = 300

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

/** The sentences of a text, spaces made single, none empty, none over 300 letters (a longer word is cut). */
export function splitSentences(text: string): string[] {
  const plain = text.replace(/\s+/g, ' ').trim()
  return [...segmenter.segment(plain)].flatMap(({ segment }) => cutLong(segment.trim()))
}

function cutLong(sentence: string): string[] {
  if (sentence.length <= MAX_LETTERS) return sentence === '' ? [] : [sentence]
  const space = sentence.lastIndexOf(' ', MAX_LETTERS)
  const end = space > 0 ? space : MAX_LETTERS
  return [sentence.slice(0, end), ...cutLong(sentence.slice(end).trim())]
}
