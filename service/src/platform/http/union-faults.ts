import type { ErrorObject } from 'ajv'

/** Beyond it the comparison of each with each would take long, and nobody reads that far. */
const MAX_ERRORS = 300

const WRONG_KIND = new Set(['type', 'const', 'enum'])

/**
 * Leaves of the errors of a union what helps: those of the one branch that was plainly meant, or else the error of the union
 * as a whole. (A validator reports the errors of every branch, so that a misspelt member of an object or null would read as
 * "must be null" too.)
 */
export function settleUnions(errors: ErrorObject[]): ErrorObject[] {
  const considered = errors.slice(0, MAX_ERRORS)
  const kept = new Set(settle(considered))
  return considered.filter((error) => kept.has(error))
}

function settle(errors: ErrorObject[]): ErrorObject[] {
  const union = outermostUnion(errors)
  if (!union) return errors
  const inside = errors.filter((error) => isInside(error, union))
  const rest = errors.filter((error) => error !== union && !inside.includes(error))
  const meant = branchMeant(inside, union)
  return [...settle(rest), ...(meant ? settle(meant) : [union])]
}

function outermostUnion(errors: ErrorObject[]): ErrorObject | undefined {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  return unions.sort((a, b) => a.schemaPath.length - b.schemaPath.length)[0]
}

function isInside(error: ErrorObject, union: ErrorObject): boolean {
  return (
    error.schemaPath.startsWith(`${union.schemaPath}/`) && `${error.instancePath}/`.startsWith(`${union.instancePath}/`)
  )
}

/**
 * The errors of the branch whose kind of value was sent: an object where others want null, or, of several objects, the one
 * whose constants (`type: "server_vad"`) are those that were sent.
 */
function branchMeant(inside: ErrorObject[], union: ErrorObject): ErrorObject[] | null {
  const branches = [...Map.groupBy(inside, (error) => branchOf(error, union)).values()]
  const ofKind = branches.filter((errors) => !errors.some((error) => isWrongKind(error, union.instancePath)))
  const ofType = ofKind.filter((errors) => !errors.some((error) => hasWrongConstant(error, union.instancePath)))
  const [only, ...others] = ofKind.length > 1 ? ofType : ofKind
  return only && others.length === 0 ? only : null
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
