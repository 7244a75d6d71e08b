/** What a piece of a text is replaced by. */
export type RedactedKind = 'card' | 'email' | 'phone' | 'digits'

/** A piece of a text, from `start` to before `end`, in UTF-16 units. */
export type Span = { start: number; end: number; kind: RedactedKind }

/** The spans in the order of the text; of those that overlap the first one. */
export function inOrder(spans: Span[]): Span[] {
  const sorted = spans.toSorted((a, b) => a.start - b.start || b.end - a.end)
  let end = 0
  return sorted.filter((span) => {
    if (span.start < end) return false
    end = span.end
    return true
  })
}

/** The text with a token in place of each span; `spans` as `inOrder` gives them. */
export function replaced(text: string, spans: readonly Span[]): string {
  const pieces: string[] = []
  let at = 0
  for (const { start, end, kind } of spans) {
    pieces.push(text.slice(at, start), `[${kind}]`)
    at = end
  }
  pieces.push(text.slice(at))
  return pieces.join('')
}
