import { type GlobalUse, membersTaken, userNodeOf, usesOfGlobals } from '../globals.ts'
import { type Import, importsOf } from '../imports.ts'
import { isFile, isHouseCode } from '../paths.ts'
import type { Source } from '../source.ts'
import { type Violation, violation } from '../violation.ts'

/** Something of the world around the program that has one door into the house. */
type Door = {
  rule: string
  isDoor: (path: string) => boolean
  where: string
  globals: string[]
  /** Members of globals: `Date.now`. */
  members: string[]
  modules: string[]
  /** Names that may not be taken from a module: `crypto: randomBytes`. */
  names: { modules: string[]; names: string[] }
}

const TIMER_MODULES = ['timers', 'node:timers', 'timers/promises', 'node:timers/promises']
const CRYPTO_MODULES = ['crypto', 'node:crypto']
const RANDOM_NAMES = ['randomUUID', 'randomBytes', 'getRandomValues', 'randomInt', 'randomFill', 'randomFillSync']
const isClock = (path: string): boolean => isFile(path, 'kernel/clock.ts')
const isIds = (path: string): boolean => isFile(path, 'kernel/ids.ts')

const DOORS: Door[] = [
  {
    ...{ rule: 'process', isDoor: (path) => isFile(path, 'main.ts'), where: 'main.ts' },
    ...{ globals: ['process'], members: [], modules: ['process', 'node:process'], names: { modules: [], names: [] } },
  },
  {
    ...{ rule: 'clock', isDoor: (path) => isClock(path) || isIds(path), where: 'kernel/clock.ts and kernel/ids.ts' },
    globals: ['setTimeout', 'setInterval', 'setImmediate'],
    members: ['Date.now', 'performance.now', 'Math.random'],
    modules: TIMER_MODULES,
    names: { modules: ['perf_hooks', 'node:perf_hooks'], names: ['*'] },
  },
  {
    ...{ rule: 'randomness', isDoor: isIds, where: 'kernel/ids.ts' },
    ...{ globals: [], members: RANDOM_NAMES.map((name) => `crypto.${name}`), modules: [] },
    names: { modules: CRYPTO_MODULES, names: RANDOM_NAMES },
  },
]

function forbiddenImport(door: Door, each: Import): string | undefined {
  if (each.specifier === undefined) return undefined
  if (door.modules.includes(each.specifier)) return each.specifier
  if (!door.names.modules.includes(each.specifier)) return undefined
  return each.names.find((name) => door.names.names.includes(name))
}

/** `new Date()` and `Date()` read the clock; `new Date(value)` does not. */
function readsDate({ place, name }: GlobalUse): string | undefined {
  const user = userNodeOf(place)
  if (name !== 'Date' || place.key !== 'callee') return undefined
  if (user?.type === 'CallExpression') return 'Date()'
  return user?.type === 'NewExpression' && user.arguments.length === 0 ? 'new Date()' : undefined
}

function forbiddenUse(door: Door, use: GlobalUse): string | undefined {
  if (door.globals.includes(use.name)) return use.name
  const member = membersTaken(use.place).find(({ name }) => door.members.includes(`${use.name}.${name}`))
  if (member) return `${use.name}.${member.name}`
  return door.rule === 'clock' ? readsDate(use) : undefined
}

/** An imported `performance` or a whole imported `crypto` is used under its own name: its members count as well. */
function memberUses(source: Source): GlobalUse[] {
  return source.places.flatMap((place) => {
    const { node } = place
    const isObject = node.type === 'Identifier' && place.key === 'object'
    return isObject && ['performance', 'crypto', 'webcrypto'].includes(node.name)
      ? [{ place, name: node.name === 'webcrypto' ? 'crypto' : node.name }]
      : []
  })
}

function throughDoor(source: Source, door: Door): Violation[] {
  const tell = (what: string): string => `${what} is used only in ${door.where}`
  const imported = importsOf(source).flatMap((each) => {
    const what = forbiddenImport(door, each)
    return what ? [violation(source, each.node, door.rule, tell(what))] : []
  })
  const uses = new Map([...usesOfGlobals(source), ...memberUses(source)].map((use) => [use.place.node, use]))
  const used = [...uses.values()].flatMap((use) => {
    const what = forbiddenUse(door, use)
    return what ? [violation(source, use.place.node, door.rule, tell(what))] : []
  })
  return [...imported, ...used]
}

/** The process, the clock and chance come in by one door each, so that every test can hold them. */
export function surroundings(source: Source): Violation[] {
  if (!isHouseCode(source.path)) return []
  return DOORS.filter((door) => !door.isDoor(source.path)).flatMap((door) => throughDoor(source, door))
}
