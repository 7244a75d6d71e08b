/** A schema within a schema, or a reference to one. */
type Schema = Record<string, unknown>

/** What is said of the same value, so that a circle of these alone never ends. */
const IN_PLACE = ['not', 'if', 'then', 'else', 'allOf', 'anyOf', 'oneOf', 'dependentSchemas', 'dependencies']
/** What is said of a part of it: circles through these go as deep as the value does. */
const OF_PARTS = [
  ...['items', 'additionalItems', 'contains', 'additionalProperties', 'propertyNames', 'prefixItems'],
  ...['unevaluatedItems', 'unevaluatedProperties', 'properties', 'patternProperties'],
]
/** Of these, an object is schemas by names, not a schema. */
const BY_NAMES = new Set(['dependentSchemas', 'dependencies', 'properties', 'patternProperties'])
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef']

/** A check is made as code, which takes a while for each of them. */
const MAX_SCHEMAS = 1_000
const MAX_STEPS = 5_000
/** Code is made at once, while everything else waits: so many rules are some 20 ms. */
const MAX_RULES = 1_000
/** Making the code of these takes the longer the more there are, by the square. */
const MAX_ALTERNATIVES = 100
const MAX_PROPERTIES = 400

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
export function weightFault(schema: Schema): string | null {
  const { steps, nodes, inPlace } = weighed(schema)
  if (nodes.length > MAX_SCHEMAS) return `has more than ${MAX_SCHEMAS} schemas in it`
  if (rulesOf(nodes) > MAX_RULES) return `has more than ${MAX_RULES} rules in it (type, required, maxLength, ...)`
  if (nodes.some((node) => schemasIn(node, ['oneOf']).length > MAX_ALTERNATIVES))
    return `has more than ${MAX_ALTERNATIVES} alternatives in one oneOf`
  if (nodes.some((node) => schemasIn(node, ['properties']).length > MAX_PROPERTIES))
    return `has more than ${MAX_PROPERTIES} properties in one object`
  const alone = new Map<Schema, number>()
  const isEndless = (node: Schema) =>
    !Number.isFinite(weigh(node, { parts: inPlace, ofCircle: Infinity, weights: alone }))
  if (nodes.some(isEndless)) return 'refers to itself without going into a part of what it describes'
  return steps > MAX_STEPS ? `has more than ${MAX_STEPS} schemas in it, with what it refers to counted each time` : null
}

/** How many rules code is made of for a schema of bounded weight. */
export function rulesIn(schema: Schema): number {
  return rulesOf(weighed(schema).nodes)
}

/** The schemas in a schema, and what is said of the same value as each. */
function weighed(schema: Schema): { steps: number; nodes: Schema[]; inPlace: (node: Schema) => Schema[] } {
  const anchors = anchorsIn(schema)
  const inPlace = (node: Schema) => schemasIn(node, IN_PLACE).concat(referredTo(node, schema, anchors))
  const parts = (node: Schema) => inPlace(node).concat(schemasIn(node, OF_PARTS))
  const weights = new Map<Schema, number>()
  const steps = weigh(schema, { parts, ofCircle: 0, weights })
  return { steps, nodes: [...weights.keys()], inPlace }
}

function rulesOf(nodes: Schema[]): number {
  return nodes.reduce((sum, node) => sum + rulesOfOne(node), 0)
}

function rulesOfOne(node: Schema): number {
  const keywords = Object.keys(node).filter((keyword) => !NO_RULES.has(keyword))
  const lists = BY_LISTS.flatMap((keyword) => {
    const byNames = Object.hasOwn(node, keyword) ? node[keyword] : null
    return isSchema(byNames) ? Object.values(byNames) : []
  })
  return lists.reduce<number>(
    (sum, list) => sum + (Array.isArray(list) ? 1 + RULES_OF_A_NAME * list.length : 0),
    keywords.length,
  )
}

type Weighing = { parts(node: Schema): Schema[]; ofCircle: number; weights: Map<Schema, number> }

/** Each is weighed once, and counts as often as it is referred to. */
function weigh(node: Schema, weighing: Weighing): number {
  const { parts, ofCircle, weights } = weighing
  const known = weights.get(node)
  if (known !== undefined) return known
  // Too many already.
  if (weights.size > MAX_SCHEMAS) return 0
  weights.set(node, ofCircle)
  let weight = 1
  for (const part of parts(node)) weight += weigh(part, weighing)
  weights.set(node, weight)
  return weight
}

function schemasIn(node: Schema, keywords: string[]): Schema[] {
  return keywords.flatMap((keyword) => {
    const value = Object.hasOwn(node, keyword) ? node[keyword] : null
    if (Array.isArray(value)) return value.filter(isSchema)
    if (!isSchema(value)) return []
    return BY_NAMES.has(keyword) ? Object.values(value).filter(isSchema) : [value]
  })
}

function referredTo(node: Schema, root: Schema, anchors: Anchors): Schema[] {
  return REFERENCES.flatMap((keyword) => {
    const reference = Object.hasOwn(node, keyword) ? node[keyword] : null
    const found = typeof reference === 'string' && reference.startsWith('#') ? resolve(root, reference, anchors) : null
    return isSchema(found) ? [found] : []
  })
}

function resolve(root: Schema, reference: string, anchors: Anchors): unknown {
  const fragment = decoded(reference.slice(1))
  if (fragment === '' || fragment === '/') return root
  return fragment.startsWith('/') ? atPointer(root, fragment) : anchors.get(fragment)
}

function atPointer(root: Schema, pointer: string): unknown {
  const names = pointer.slice(1).split('/')
  const step = (at: unknown, name: string) =>
    typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Schema)[name] : null
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')).reduce(step, root as unknown)
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

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
