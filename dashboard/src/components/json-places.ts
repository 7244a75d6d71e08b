const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

type Open = { pointer: string; index: number | null; name: string | null }

/** The line, from 1, at which a member of a JSON text stands, or else what holds it. */
export function lineOfMember(text: string, pointer: string): number {
  let wanted = pointer
  while (wanted !== '') {
    const at = placeOf(text, wanted)
    if (at !== null) return text.slice(0, at).split('\n').length
    wanted = wanted.slice(0, wanted.lastIndexOf('/'))
  }
  return 1
}

function placeOf(text: string, pointer: string): number | null {
  const open: Open[] = []
  for (const { 0: token, index: at } of text.matchAll(TOKENS)) {
    const inner = open.at(-1)
    if (token === '}' || token === ']') open.pop()
    else if (token === ',') goOn(inner)
    else if (token !== ':') {
      const isName = inner !== undefined && inner.index === null && inner.name === null
      if (isName) inner.name = nameIn(token)
      const own = inner ? `${inner.pointer}/${inner.index ?? inner.name}` : ''
      if (own === pointer) return at
      if (!isName && token === '{') open.push({ pointer: own, index: null, name: null })
      if (!isName && token === '[') open.push({ pointer: own, index: 0, name: null })
    }
  }
  return null
}

function goOn(inner: Open | undefined): void {
  if (!inner) return
  inner.name = null
  if (inner.index !== null) inner.index += 1
}

/** As a JSON pointer has it. */
function nameIn(token: string): string {
  try {
    return String(JSON.parse(token)).replaceAll('~', '~0').replaceAll('/', '~1')
  } catch {
    return token
  }
}
