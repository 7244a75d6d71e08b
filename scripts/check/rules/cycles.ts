import { type Import, importsOf } from '../imports.ts'
import { isInHouse } from '../paths.ts'
import type { Source } from '../source.ts'
import { type Violation, violation } from '../violation.ts'

type File = { source: Source; imports: Import[] }
type Search = { files: Map<string, File>; trail: string[]; done: Set<string>; found: Violation[] }

function report(search: Search, path: string, each: Import, file: File): void {
  const cycle = [...search.trail.slice(search.trail.indexOf(path)), path]
  search.found.push(violation(file.source, each.node, 'cycles', cycle.join(' → ')))
}

/** Depth first: an import of a file that is on the trail closes a cycle. */
function visit(search: Search, path: string): void {
  const file = search.files.get(path)
  if (!file || search.done.has(path)) return
  search.trail.push(path)
  for (const each of file.imports) {
    if (each.target === undefined) continue
    if (search.trail.includes(each.target)) report(search, each.target, each, file)
    else visit(search, each.target)
  }
  search.trail.pop()
  search.done.add(path)
}

/** No file of the house imports itself by way of others. Imports of types count: they are knowledge too. */
export function cycles(sources: Source[]): Violation[] {
  const house = sources.filter(({ path }) => isInHouse(path))
  const files = new Map(house.map((source) => [source.path, { source, imports: importsOf(source) }]))
  const search: Search = { files, trail: [], done: new Set(), found: [] }
  for (const path of files.keys()) visit(search, path)
  return search.found
}
