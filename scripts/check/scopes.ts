import type { Node } from 'oxc-parser'
import { ancestorsOf, type Place, type Source } from './source.ts'

/** Names that are bound within a node of the tree (a function, a block, the program). */
type Scopes = Map<Node, Set<string>>

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']
const SCOPES = [
  ...FUNCTIONS,
  ...['Program', 'BlockStatement', 'StaticBlock', 'CatchClause', 'SwitchStatement'],
  ...['ForStatement', 'ForInStatement', 'ForOfStatement', 'ClassExpression', 'TSModuleBlock'],
]

/** `parent.key` positions where an identifier is part of a pattern that binds or assigns. */
const PATTERN_PARTS = ['Property.value', 'ObjectPattern.properties', 'ArrayPattern.elements']
PATTERN_PARTS.push('AssignmentPattern.left', 'RestElement.argument', 'TSParameterProperty.parameter')

/** `parent.key` positions where a pattern, or the identifier itself, becomes a name of the scope around it. */
const BINDINGS = ['VariableDeclarator.id', 'CatchClause.param', 'ClassDeclaration.id', 'ClassExpression.id']
BINDINGS.push('ImportSpecifier.local', 'ImportDefaultSpecifier.local', 'ImportNamespaceSpecifier.local')
BINDINGS.push(...FUNCTIONS.flatMap((type) => [`${type}.id`, `${type}.params`]))

/** `parent.key` positions where an identifier is only a name: a member, a key, a label, a part of a type. */
const NAMES = ['Property.key', 'MethodDefinition.key', 'PropertyDefinition.key', 'AccessorProperty.key']
NAMES.push('ImportSpecifier.imported', 'ExportSpecifier.local', 'ExportSpecifier.exported', 'MetaProperty.property')
NAMES.push('LabeledStatement.label', 'BreakStatement.label', 'ContinueStatement.label', 'MemberExpression.property')

function positionOf(place: Place): string {
  return `${place.up?.node.type ?? ''}.${place.key}`
}

/** The outermost pattern that an identifier is a part of: itself when it stands alone. */
function patternOf(place: Place): Place {
  let pattern = place
  while (pattern.up && PATTERN_PARTS.includes(positionOf(pattern))) pattern = pattern.up
  return pattern
}

function isBinding(place: Place): boolean {
  return place.node.type === 'Identifier' && BINDINGS.includes(positionOf(patternOf(place)))
}

/** A function's own name is bound around it; its parameters are bound in it. */
function scopeOfBinding(place: Place): Node | undefined {
  const pattern = patternOf(place)
  const from = positionOf(pattern).endsWith('Declaration.id') && pattern.up ? pattern.up : pattern
  for (const { node } of ancestorsOf(from)) if (SCOPES.includes(node.type)) return node
  return undefined
}

function scopesOf(source: Source): Scopes {
  const scopes: Scopes = new Map()
  for (const place of source.places) {
    const scope = isBinding(place) ? scopeOfBinding(place) : undefined
    if (!scope || place.node.type !== 'Identifier') continue
    scopes.set(scope, (scopes.get(scope) ?? new Set()).add(place.node.name))
  }
  return scopes
}

function isComputed(node: Node | undefined): boolean {
  return node !== undefined && 'computed' in node && node.computed === true
}

function isInType(place: Place): boolean {
  return place.up?.node.type.startsWith('TS') === true && !/^TS(As|Satisfies|NonNull)/.test(place.up.node.type)
}

function isReference(place: Place): boolean {
  if (place.node.type !== 'Identifier' || isInType(place) || isBinding(place)) return false
  return !NAMES.includes(positionOf(place)) || isComputed(place.up?.node)
}

/** An identifier of the text that means a global: no scope around it binds its name. */
type FreeName = { place: Place; name: string }

/** Every use of a name that the file itself does not bind. A name that a function, a block or an import binds is not a global there. */
export function freeNamesIn(source: Source): FreeName[] {
  const scopes = scopesOf(source)
  return source.places.flatMap((place) => {
    const { node } = place
    if (node.type !== 'Identifier' || !isReference(place)) return []
    const bound = [...ancestorsOf(place)].some((up) => scopes.get(up.node)?.has(node.name))
    return bound ? [] : [{ place, name: node.name }]
  })
}
