import { userNodeOf, usesOfGlobals } from '../globals.ts'
import { importsOf } from '../imports.ts'
import { isForTests, workspaceOf } from '../paths.ts'
import { ancestorsOf, type Place, type Source } from '../source.ts'
import { type Violation, violation } from '../violation.ts'

const WAIT = 'service/test/harness/wait.ts'
const MESSAGE = `a test waits for a condition, with ${WAIT}, never for a time`
const PROMISED_TIMERS = ['timers/promises', 'node:timers/promises']

/** The function given to `new Promise(…)`: a timer in it resolves after a time. */
function isExecutor(place: Place): boolean {
  const { node, up, key } = place
  if (node.type !== 'ArrowFunctionExpression' && node.type !== 'FunctionExpression') return false
  const maker = key === 'arguments' ? up?.node : undefined
  return maker?.type === 'NewExpression' && maker.callee.type === 'Identifier' && maker.callee.name === 'Promise'
}

function sleeps(place: Place): boolean {
  return userNodeOf(place)?.type === 'CallExpression' && [...ancestorsOf(place)].some(isExecutor)
}

/** Tests do not sleep: a sleep is too short on a slow machine and too long on every other. */
export function sleepless(source: Source): Violation[] {
  const { path } = source
  if (workspaceOf(path) !== 'service' || !isForTests(path) || path === WAIT) return []
  const imports = importsOf(source).filter(({ specifier }) => PROMISED_TIMERS.includes(specifier ?? ''))
  const timers = usesOfGlobals(source).filter(({ name, place }) => name === 'setTimeout' && sleeps(place))
  const nodes = [...imports.map(({ node }) => node), ...timers.map(({ place }) => place.node)]
  return nodes.map((node) => violation(source, node, 'sleep', MESSAGE))
}
