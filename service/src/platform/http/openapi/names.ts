import type { DescribedRoute } from './routes.ts'
import { type Schema, withoutNull } from './schema.ts'

/** Smaller things are shown where they stand. */
const MIN_MEMBERS = 4

type Found = { name: string; isRow: boolean; operationId: string; text: string; schema: Schema }

/**
 * Names the things that answers wrap: what stands under `task` is a `Task`, and so is a row of `tasks`. Where a list shows less
 * than the thing alone, its rows are `TaskSummary`; what else would share a name has that of its operation before it.
 */
export function nameAnswers(routes: DescribedRoute[]): Record<string, Schema> {
  const named = new Map<string, Found>()
  const texts = new Set<string>()
  for (const found of routes.flatMap(thingsIn).sort(byNameAndKind)) {
    if (texts.has(found.text)) continue
    const candidates = [found.name, `${found.name}Summary`, `${capitalized(found.operationId)}${found.name}`]
    const free = candidates.filter((name) => !named.has(name))
    const [name] = found.isRow ? free : free.filter((each) => !each.endsWith('Summary'))
    if (name === undefined) continue
    named.set(name, found)
    texts.add(found.text)
  }
  return Object.fromEntries([...named].map(([name, { schema }]) => [name, schema]))
}

/** Single things come before rows, so that they get the plain name, and operations in the order of their names. */
function byNameAndKind(a: Found, b: Found): number {
  return Number(a.isRow) - Number(b.isRow) || a.operationId.localeCompare(b.operationId)
}

function thingsIn({ operationId, schema }: DescribedRoute): Found[] {
  const bodies = Object.entries(schema.response ?? {}).filter(([status]) => status.startsWith('2'))
  return bodies.flatMap(([, { properties = {} }]) =>
    Object.entries(properties).flatMap(([key, member]) => {
      const isRow = member.type === 'array'
      const thing = withoutNull(isRow ? (member.items ?? {}) : member)
      if (thing.type !== 'object' || Object.keys(thing.properties ?? {}).length < MIN_MEMBERS) return []
      const name = capitalized(isRow ? singular(key) : key)
      return [{ name, isRow, operationId, text: JSON.stringify(thing), schema: thing }]
    }),
  )
}

function singular(key: string): string {
  if (key.endsWith('ies')) return `${key.slice(0, -3)}y`
  return key.endsWith('s') && !key.endsWith('ss') ? key.slice(0, -1) : key
}

/** `call_log` is `CallLog`. */
function capitalized(key: string): string {
  return key.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
