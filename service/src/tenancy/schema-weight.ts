import { isJsonObject } from '../kernel/json-object.ts'
import { atPointer, fragmentOf } from '../kernel/json-pointer.ts'

/** A schema within a schema, or a reference to one. */
type Schema = Record<string, unknown>

/** What is said of the same value, so that a circle of these alone never ends. */
const IN_PLACE = ['not', 'if', 'then', 'else', 'allOf', 'anyOf', 'oneOf', 'dependentSchemas', 'dependencies']
/** What is said of a part of it: circles through these go as deep as the value does. */
const OF_PARTS = [
  ...['items', 'additionalItems', 'contains', 'additionalProperties', 'propertyNames', 'prefixItems'],
  ...['unevaluatedItems', 'unevaluatedProperties', 'properties', 'patternProperties'],
]
const PLACES = [...IN_PLACE, ...OF_PARTS]
/** Of these, an object is schemas by names, not a schema. */
const BY_NAMES = new Set(['dependentSchemas', 'dependencies', 'properties', 'patternProperties'])
/** Of these, there can be any number in one place. */
const OF_MANY = ['allOf', 'anyOf', 'oneOf', 'prefixItems', ...BY_NAMES]
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef']

/** A check is made as code, which takes a while for each of them. */
const MAX_SCHEMAS = 1_000
const MAX_STEPS = 5_000

type Bounds = {
  rules: number
  alternatives: number
  properties: number
  /** What is counted in a schema's places for others. */
  counted(node: Schema, keywords: string[]): unknown[]
}

/** Of what is written now. Code is made at once, while everything else waits: so many rules are some 20 ms. */
const OF_NEW: Bounds = {
  rules: 1_000,
  // Making the code of these takes the longer the more there are, by the square.
  ...{ alternatives: 100, properties: 400 },
  // A schema that is `true` or `false` takes no less than one of a rule or two.
  counted: membersIn,
}

/** Of what may be in use since before there were those: the bounds of then. No bound of `OF_NEW` may be wider. */
export const OF_STORED: Bounds = { rules: Infinity, alternatives: 300, properties: Infinity, counted: schemasIn }

/** What nothing is checked by. */
const NO_RULES = new Set([
  ...['title', 'description', 'default', 'examples', 'format', 'deprecated', 'readOnly', 'writeOnly'],
  ...['$comment', '$defs', 'definitions', '$anchor', '$dynamicAnchor'],
])
/** Of these, each name of each list takes as long as three rules. */
const RULES_OF_A_NAME = 3
const BY_LISTS = ['dependentRequired', 'dependencies']

/**
 * Why `schema` (JSON, of bounded size) is more work than its text shows, or null: references double what stands behind them,
 * and a few lines of them can come to more steps than a machine ever does. A schema may refer to itself where it describes a
 * part of itself. References that lead nowhere are for the compiler to tell.
 */
export function weightFault(schema: Schema, bounds = OF_NEW): string | null {
  const { rules, alternatives, properties, counted } = bounds
  const { steps, nodes, size, inPlace } = weighed(schema, bounds)
  const most = (keyword: string) => Math.max(...nodes.map((node) => counted(node, [keyword]).length))
  if (size > MAX_SCHEMAS) return `has more than ${MAX_SCHEMAS} schemas in it`
  if (rulesOf(nodes) > rules) return `has more than ${rules} rules in it (type, required, maxLength, ...)`
  if (most('oneOf') > alternatives) return `has more than ${alternatives} alternatives in one oneOf`
  if (most('properties') > properties) return `has more than ${properties} properties in one object`
  const alone = new Map<Schema, number>()
  const isEndless = (node: Schema) =>
    !Number.isFinite(weigh(node, { parts: inPlace, leaves: () => 0, ofCircle: Infinity, weights: alone }))
  if (nodes.some(isEndless)) return 'refers to itself without going into a part of what it describes'
  return steps > MAX_STEPS ? `has more than ${MAX_STEPS} schemas in it, with what it refers to counted each time` : null
}

/** How many rules code is made of for a schema of bounded weight. */
export function rulesIn(schema: Schema): number {
  return rulesOf(weighed(schema, OF_NEW).nodes)
}

type Weighed = { steps: number; size: number; nodes: Schema[]; inPlace: (node: Schema) => Schema[] }

/** The schemas in a schema that have members, how many there are with the others, and what is said of the same value as each. */
function weighed(schema: Schema, { counted }: Bounds): Weighed {
  const anchors = anchorsIn(schema)
  const inPlace = (node: Schema) => schemasIn(node, IN_PLACE).concat(referredTo(node, schema, anchors))
  const parts = (node: Schema) => inPlace(node).concat(schemasIn(node, OF_PARTS))
  const leaves = (node: Schema) => counted(node, PLACES).length - schemasIn(node, PLACES).length
  const weights = new Map<Schema, number>()
  const steps = weigh(schema, { parts, leaves, ofCircle: 0, weights })
  const nodes = [...weights.keys()]
  return { steps, nodes, size: nodes.reduce((sum, node) => sum + leaves(node), nodes.length), inPlace }
}

function rulesOf(nodes: Schema[]): number {
  return nodes.reduce((sum, node) => sum + rulesOfOne(node), 0)
}

function rulesOfOne(node: Schema): number {
  const keywords = Object.keys(node).filter((keyword) => !NO_RULES.has(keyword))
  const lists = BY_LISTS.flatMap((keyword) => {
    const byNames = Object.hasOwn(node, keyword) ? node[keyword] : null
    return isJsonObject(byNames) ? Object.values(byNames) : []
  })
  return lists.reduce<number>(
    (sum, list) => sum + (Array.isArray(list) ? 1 + RULES_OF_A_NAME * list.length : 0),
    keywords.length + membersIn(node, OF_MANY).filter((member) => !isJsonObject(member)).length,
  )
}

type Weighing = {
  parts(node: Schema): Schema[]
  leaves(node: Schema): number
  ofCircle: number
  weights: Map<Schema, number>
}

/** Each is weighed once, and counts as often as it is referred to. */
function weigh(node: Schema, weighing: Weighing): number {
  const { parts, leaves, ofCircle, weights } = weighing
  const known = weights.get(node)
  if (known !== undefined) return known
  // Too many already.
  if (weights.size > MAX_SCHEMAS) return 0
  weights.set(node, ofCircle)
  let weight = 1 + leaves(node)
  for (const part of parts(node)) weight += weigh(part, weighing)
  weights.set(node, weight)
  return weight
}

function schemasIn(node: Schema, keywords: string[]): Schema[] {
  return membersIn(node, keywords).filter(isJsonObject)
}

/** All that stands where schemas can, whatever it is: `true` and `false` are schemas, too. */
function membersIn(node: Schema, keywords: string[]): unknown[] {
  return keywords.flatMap((keyword) => {
    if (!Object.hasOwn(node, keyword)) return []
    const value = node[keyword]
    if (Array.isArray(value)) return value as unknown[]
    return isJsonObject(value) && BY_NAMES.has(keyword) ? Object.values(value) : [value]
  })
}

function referredTo(node: Schema, root: Schema, anchors: Anchors): Schema[] {
  return REFERENCES.flatMap((keyword) => {
    const reference = Object.hasOwn(node, keyword) ? node[keyword] : null
    const found = typeof reference === 'string' && reference.startsWith('#') ? resolve(root, reference, anchors) : null
    return isJsonObject(found) ? [found] : []
  })
}

function resolve(root: Schema, reference: string, anchors: Anchors): unknown {
  const fragment = fragmentOf(reference)
  if (fragment === '' || fragment === '/') return root
  return fragment.startsWith('/') ? atPointer(root, fragment) : anchors.get(fragment)
}

type Anchors = Map<unknown, Schema>

/** What has a name of its own, wherever it stands: the compiler takes any place for a schema. The first of a name has it. */
function anchorsIn(value: unknown, found: Anchors = new Map()): Anchors {
  if (typeof value !== 'object' || value === null) return found
  const { $anchor, $dynamicAnchor } = value as Schema
  for (const name of [$anchor, $dynamicAnchor])
    if (name !== undefined && !found.has(name)) found.set(name, value as Schema)
  for (const member of Object.values(value)) anchorsIn(member, found)
  return found
}
