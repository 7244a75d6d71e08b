import type { ErrorObject } from 'ajv'

/** Beyond it the comparison of each with each would take long, and nobody reads that far. */
const MAX_ERRORS = 300

const WRONG_KIND = new Set(['type', 'const', 'enum'])

/**
 * Leaves of the errors of a union what helps: those of the one branch that was plainly meant, or else the constants by which its
 * branches are told apart, or else the error of the union as a whole. (A validator reports the errors of every branch, so that a misspelt member of an object or null would read as
 * "must be null" too.)
 */
export function settleUnions(errors: ErrorObject[]): ErrorObject[] {
  const considered = errors.slice(0, MAX_ERRORS)
  const kept = new Set(settle(considered))
  return considered.filter((error) => kept.has(error)).map((error) => constantAsked(error, considered) ?? error)
}

function settle(errors: ErrorObject[]): ErrorObject[] {
  const union = outermostUnion(errors)
  if (!union) return errors
  const inside = errors.filter((error) => isInside(error, union))
  const rest = errors.filter((error) => error !== union && !inside.includes(error))
  const meant = branchMeant(branchesOfKind(inside, union), union)
  return [...settle(rest), ...(meant ? settle(meant) : [union])]
}

function outermostUnion(errors: ErrorObject[]): ErrorObject | undefined {
  return errors.filter(isUnion).sort((a, b) => a.schemaPath.length - b.schemaPath.length)[0]
}

function isUnion({ keyword }: ErrorObject): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf'
}

function isInside(error: ErrorObject, union: ErrorObject): boolean {
  return (
    error.schemaPath.startsWith(`${union.schemaPath}/`) && `${error.instancePath}/`.startsWith(`${union.instancePath}/`)
  )
}

/** The errors of each branch that takes the kind of value that was sent: an object where others want null. */
function branchesOfKind(inside: ErrorObject[], union: ErrorObject): ErrorObject[][] {
  const branches = [...Map.groupBy(inside, (error) => branchOf(error, union)).values()]
  return branches.filter((errors) => !errors.some((error) => isWrongKind(error, union.instancePath)))
}

/** Those of the one branch of the kind, or, of several objects, of the one whose constants (`type: "server_vad"`) are those that were sent. */
function branchMeant(branches: ErrorObject[][], union: ErrorObject): ErrorObject[] | null {
  const ofType = branches.filter((errors) => !errors.some((error) => hasWrongConstant(error, union.instancePath)))
  const [only, ...others] = branches.length > 1 ? ofType : branches
  return only && others.length === 0 ? only : null
}

/** Of a union of objects, each with another constant in the same member: what that member must be, where it is none of these, or missing. */
function constantAsked(union: ErrorObject, errors: ErrorObject[]): ErrorObject | null {
  if (!isUnion(union)) return null
  const inside = errors.filter((error) => isInside(error, union))
  const asked = branchesOfKind(inside, union).map((branch) => constantsOf(branch, union.instancePath))
  const [first, ...others] = asked
  const member = [...(first?.keys() ?? [])].find((name) => others.every((constants) => constants.has(name)))
  if (member === undefined || others.length === 0) return null
  const parentSchema = { enum: asked.map((constants) => constants.get(member)) }
  return { ...union, keyword: 'enum', instancePath: `${union.instancePath}/${member}`, params: {}, parentSchema }
}

/** The constants that a branch misses in the members of the object at `path`. */
function constantsOf(branch: ErrorObject[], path: string): Map<string, unknown> {
  const wrong = branch.filter((error) => hasWrongConstant(error, path))
  const missing = branch.filter(({ keyword, instancePath }) => keyword === 'required' && instancePath === path)
  return new Map([
    ...wrong.map(({ instancePath, schema }): [string, unknown] => [instancePath.slice(path.length + 1), schema]),
    ...missing.flatMap(constantMissing),
  ])
}

function constantMissing({ params, parentSchema }: ErrorObject): [string, unknown][] {
  const name = String(params['missingProperty'])
  const members = parentSchema?.['properties'] as Record<string, { const?: unknown }> | undefined
  const constant = members?.[name]?.const
  return constant === undefined ? [] : [[name, constant]]
}

function branchOf(error: ErrorObject, union: ErrorObject): string {
  return error.schemaPath.slice(union.schemaPath.length + 1).split('/')[0] ?? ''
}

function isWrongKind({ keyword, instancePath }: ErrorObject, path: string): boolean {
  return instancePath === path && WRONG_KIND.has(keyword)
}

function hasWrongConstant({ keyword, instancePath }: ErrorObject, path: string): boolean {
  return (
    keyword === 'const' && instancePath.startsWith(`${path}/`) && !instancePath.slice(path.length + 1).includes('/')
  )
}
