import type { Node } from 'oxc-parser'
import { isForTests } from './paths.ts'
import { ancestorsOf, lineOf, type Place, type Source } from './source.ts'

/** A file or a function and how many lines it takes, blank lines and comments within included. */
export type Extent = { name: string; file: string; line: number; lines: number }

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']

function longestFirst(extents: Extent[], limit: number): Extent[] {
  return extents.sort((a, b) => b.lines - a.lines || a.file.localeCompare(b.file) || a.line - b.line).slice(0, limit)
}

function countLines(text: string): number {
  return text.trimEnd().split('\n').length
}

function nameOfKey(key: Node): string {
  if (key.type === 'Identifier') return key.name
  if (key.type === 'PrivateIdentifier') return `#${key.name}`
  return key.type === 'Literal' ? String(key.value) : '(computed)'
}

function classOf(place: Place): string {
  for (const { node } of ancestorsOf(place)) {
    if (node.type === 'ClassDeclaration' || node.type === 'ClassExpression') return node.id ? `${node.id.name}.` : ''
  }
  return ''
}

/** The name by which a function is known: its own, or that of the variable, member or key that holds it. */
function nameOfFunction(place: Place): string | undefined {
  const { node } = place
  if ('id' in node && node.id?.type === 'Identifier') return node.id.name
  const holder = place.up?.node
  switch (holder?.type) {
    case 'VariableDeclarator':
      return nameOfKey(holder.id)
    case 'MethodDefinition':
    case 'PropertyDefinition':
      return `${classOf(place)}${nameOfKey(holder.key)}`
    case 'Property':
      return nameOfKey(holder.key)
    default:
      return undefined
  }
}

function isWithinFunction(place: Place): boolean {
  return [...ancestorsOf(place)].some(({ node }) => FUNCTIONS.includes(node.type))
}

/** A nameless function within another is a part of that one, and counted there. */
function functionsIn(source: Source): Extent[] {
  return source.places.flatMap((place) => {
    if (!FUNCTIONS.includes(place.node.type)) return []
    const name = nameOfFunction(place) ?? (isWithinFunction(place) ? undefined : '(nameless)')
    if (name === undefined) return []
    const line = lineOf(source, place.node.start)
    return [{ name, file: source.path, line, lines: lineOf(source, place.node.end) - line + 1 }]
  })
}

/** The longest files, longest first. */
export function longestFiles(sources: Source[], limit: number): Extent[] {
  const extents = sources.map(({ path, text }) => ({ name: path, file: path, line: 1, lines: countLines(text) }))
  return longestFirst(extents, limit)
}

/** The longest functions outside tests, longest first. */
export function longestFunctions(sources: Source[], limit: number): Extent[] {
  const code = sources.filter(({ path }) => !isForTests(path))
  return longestFirst(code.flatMap(functionsIn), limit)
}
