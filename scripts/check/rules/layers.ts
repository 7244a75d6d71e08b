import { type Import, importsOf, isOfPackage } from '../imports.ts'
import { FLOORS, floorOf, isForTests, isHouseCode, isInHouse, workspaceOf } from '../paths.ts'
import type { Source } from '../source.ts'
import { type Violation, violation } from '../violation.ts'

const RULE = 'floors'
const OTHER_WORKSPACES = ['simulator', 'dashboard', 'client', 'bench']
/** Workspaces that stand on their own: they meet the service only over its public wire. */
const APART = ['simulator', 'dashboard', 'client']

/** The workspace that an import leads to; undefined for a package from outside. */
function workspaceOfImport(each: Import): string | undefined {
  if (each.target) return workspaceOf(each.target)
  return each.specifier?.startsWith('@parley/') ? each.specifier.split('/')[1] : undefined
}

function crossesWorkspaces(path: string, each: Import): string | undefined {
  const to = workspaceOfImport(each)
  if (isInHouse(path) && to && OTHER_WORKSPACES.includes(to)) return `the service imports nothing of ${to}/`
  if (APART.includes(workspaceOf(path)) && (to === 'service' || isOfPackage(each, '@parley/service'))) {
    return `${workspaceOf(path)}/ imports nothing of service/`
  }
  return undefined
}

/** Tests may reach out of the house to their harness; what runs in production may reach only its own manifest. */
function leavesHouse(path: string, { target }: Import): string | undefined {
  if (!target || !isHouseCode(path)) return undefined
  if (isForTests(target)) return `${target} exists for tests only`
  return isInHouse(target) || target.endsWith('.json') ? undefined : `${target} lies outside service/src/`
}

function goesUp(path: string, { target }: Import): string | undefined {
  if (!target || !isInHouse(path) || !isInHouse(target) || isForTests(target)) return undefined
  const [from, to] = [floorOf(path), floorOf(target)]
  if (!from || !to || FLOORS.indexOf(to) <= FLOORS.indexOf(from)) return undefined
  return `${from} stands below ${to} and must not import ${target}`
}

/** The folders of the dashboard, lowest first. */
const DASHBOARD_FOLDERS = ['design', 'api', 'audio', 'components', 'features', 'routes']
const DASHBOARD_PLACE = /^dashboard\/src\/(\w+)\/(?:([\w-]+)\/)?/

function crossesDashboard(path: string, { target }: Import): string | undefined {
  const [, from = '', ofFeature] = DASHBOARD_PLACE.exec(path) ?? []
  const [, to = '', feature] = DASHBOARD_PLACE.exec(target ?? '') ?? []
  if (!DASHBOARD_FOLDERS.includes(from) || !DASHBOARD_FOLDERS.includes(to)) return undefined
  if (DASHBOARD_FOLDERS.indexOf(to) > DASHBOARD_FOLDERS.indexOf(from)) return `${from}/ imports nothing of ${to}/`
  const isForeign = from === 'features' && to === 'features' && ofFeature !== feature
  return isForeign ? `the feature ${ofFeature} knows nothing of ${feature}: what both need moves down` : undefined
}

function isComputed(path: string, { specifier }: Import): string | undefined {
  return isHouseCode(path) && specifier === undefined
    ? 'an import must name its module, or nobody can see where it leads'
    : undefined
}

/** Imports go down the house only, stay in it, and are told by name; every folder of the house is a floor. */
export function layers(source: Source): Violation[] {
  const noFloor = isInHouse(source.path) && !floorOf(source.path)
  const unknown = noFloor ? [violation(source, source.program, RULE, 'this folder is not a floor of the house')] : []
  const checks = [crossesWorkspaces, crossesDashboard, leavesHouse, goesUp, isComputed]
  const broken = importsOf(source).flatMap((each) => {
    const message = checks.map((check) => check(source.path, each)).find((found) => found !== undefined)
    return message === undefined ? [] : [violation(source, each.node, RULE, message)]
  })
  return [...unknown, ...broken]
}
