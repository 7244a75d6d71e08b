import type { Node } from 'oxc-parser'
import { freeNamesIn } from './scopes.ts'
import type { Place, Source } from './source.ts'

/** A use of a global in a file: `setTimeout`, `globalThis.setTimeout`, or `setTimeout` taken out of `globalThis`. */
export type GlobalUse = { place: Place; name: string }

const GLOBAL_OBJECTS = ['globalThis', 'global']
const WRAPPERS = ['ParenthesizedExpression', 'TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']

/** The place above that is more than the same value in brackets or with a type. */
function userOf(place: Place): Place | undefined {
  let user = place.up
  while (user && WRAPPERS.includes(user.node.type)) user = user.up
  return user
}

/** The name of a key or a member: `a.b`, `a['b']`, `{ b: … }`. */
function nameOf(node: Node): string | undefined {
  if (node.type === 'Identifier') return node.name
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined
}

function keysOf(pattern: Node): string[] {
  if (pattern.type !== 'ObjectPattern') return []
  return pattern.properties.flatMap((property) => (property.type === 'Property' ? (nameOf(property.key) ?? []) : []))
}

/** The members that are taken from a value where it stands: `value.a`, `value['a']`, `const { a, b } = value`. */
export function membersTaken(place: Place): GlobalUse[] {
  const user = userOf(place)
  if (user?.node.type === 'VariableDeclarator') return keysOf(user.node.id).map((name) => ({ place: user, name }))
  if (user?.node.type !== 'MemberExpression' || place.key === 'property') return []
  const name = nameOf(user.node.property)
  const isDynamic = user.node.computed && user.node.property.type === 'Identifier'
  return name === undefined || isDynamic ? [] : [{ place: user, name }]
}

/** Every use of a global in a file, those through `globalThis` included. */
export function usesOfGlobals(source: Source): GlobalUse[] {
  const plain = freeNamesIn(source)
  const roots = plain.filter(({ name }) => GLOBAL_OBJECTS.includes(name))
  return [...plain, ...roots.flatMap(({ place }) => membersTaken(place))]
}

/** What a use is used for: the node above it, brackets and types left out. */
export function userNodeOf(place: Place): Node | undefined {
  return userOf(place)?.node
}
