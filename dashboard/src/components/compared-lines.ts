/** A line of two texts that stand beside each other; null where one of them has none. */
export type ComparedLine = { before: string | null; after: string | null }

/** More pairs of lines than these are not looked through: the page would stand still. */
const MOST_PAIRS = 4_000_000

/** Writes a value in lines: a member a line, in the order of names, and texts as long as they are. */
export function linesOf(value: unknown, indent = ''): string[] {
  if (value === null || typeof value !== 'object') return textLines(value, indent)
  const members = Object.entries(value as Record<string, unknown>)
  if (!Array.isArray(value)) members.sort(([one], [other]) => (one < other ? -1 : 1))
  return members.flatMap(([name, member]) => {
    const head = Array.isArray(value) ? `${indent}-` : `${indent}${name}:`
    const lines = linesOf(member, `${indent}  `)
    return lines.length === 1 && !isFull(member) ? [`${head} ${lines[0]?.trim() ?? ''}`] : [head, ...lines]
  })
}

function isFull(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

function textLines(value: unknown, indent: string): string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return (text ?? '').split('\n').map((line) => indent + line)
}

/** Puts lines beside each other so that as many as possible are equal. */
export function compareLines(before: string[], after: string[]): ComparedLine[] {
  const limit = Math.min(before.length, after.length)
  let head = 0
  while (head < limit && before[head] === after[head]) head += 1
  let tail = 0
  while (tail < limit - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  const same = (lines: string[]) => lines.map((line) => ({ before: line, after: line }))
  return [
    ...same(before.slice(0, head)),
    ...compareMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...same(before.slice(before.length - tail)),
  ]
}

function compareMiddle(before: string[], after: string[]): ComparedLine[] {
  if (before.length * after.length > MOST_PAIRS) return beside(before, after)
  const lengths = commonLengths(before, after)
  const found: ComparedLine[] = []
  let [gone, come]: [string[], string[]] = [[], []]
  let [at, to] = [0, 0]
  while (at < before.length || to < after.length) {
    if (at < before.length && before[at] === after[to]) {
      found.push(...beside(gone, come), { before: before[at] ?? '', after: after[to] ?? '' })
      ;[gone, come] = [[], []]
      at += 1
      to += 1
    } else if (
      to >= after.length ||
      (at < before.length && longer(lengths, at + 1, to) >= longer(lengths, at, to + 1))
    ) {
      gone.push(before[at] ?? '')
      at += 1
    } else {
      come.push(after[to] ?? '')
      to += 1
    }
  }
  return [...found, ...beside(gone, come)]
}

function longer(lengths: Uint32Array[], at: number, to: number): number {
  return lengths[at]?.[to] ?? 0
}

/** How many lines the rests from each pair of lines on have in common. */
function commonLengths(before: string[], after: string[]): Uint32Array[] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1))
  for (let at = before.length - 1; at >= 0; at -= 1) {
    const row = lengths[at]
    for (let to = after.length - 1; row && to >= 0; to -= 1)
      row[to] =
        before[at] === after[to]
          ? longer(lengths, at + 1, to + 1) + 1
          : Math.max(longer(lengths, at + 1, to), longer(lengths, at, to + 1))
  }
  return lengths
}

function beside(gone: string[], come: string[]): ComparedLine[] {
  return Array.from({ length: Math.max(gone.length, come.length) }, (_none, at) => ({
    before: gone[at] ?? null,
    after: come[at] ?? null,
  }))
}
