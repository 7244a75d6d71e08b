import { type Node, type Program, parseSync, visitorKeys } from 'oxc-parser'

/** A node of a syntax tree, the key it hangs on, and the way up to the program. */
export type Place = { node: Node; key: string; up: Place | undefined }

/** A parsed file. `path` is relative to the project's folder, with slashes; `places` are all its nodes, in order. */
export type Source = { path: string; text: string; program: Program; places: Place[]; errors: string[] }

/** A file as it comes from the disk or from a test. */
export type SourceText = { path: string; text: string }

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

function childrenOf(node: Node, key: string): Node[] {
  const value: unknown = Reflect.get(node, key)
  return (Array.isArray(value) ? value : [value]).filter(isNode)
}

function collect(place: Place, into: Place[]): Place[] {
  into.push(place)
  for (const key of visitorKeys[place.node.type] ?? []) {
    for (const node of childrenOf(place.node, key)) collect({ node, key, up: place }, into)
  }
  return into
}

/** Parses one file; the language goes by the ending of its path. What does not parse is told in `errors`. */
export function parse({ path, text }: SourceText): Source {
  const { program, errors } = parseSync(path, text)
  const places = collect({ node: program, key: '', up: undefined }, [])
  return { path, text, program, places, errors: errors.map(({ message }) => message) }
}

/** The line of an offset, counted from 1. */
export function lineOf(source: Source, offset: number): number {
  return source.text.slice(0, offset).split('\n').length
}

/** The places above this one, nearest first. */
export function* ancestorsOf(place: Place): Generator<Place> {
  for (let up = place.up; up; up = up.up) yield up
}
