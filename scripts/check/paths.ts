/** The floors of the house, lowest first: each may import from itself and from those before it. */
export const FLOORS = [
  ...['kernel', 'platform', 'tenancy', 'delivery', 'records', 'agents', 'operators', 'voice', 'calls', 'app'],
] as const

/** A floor of the house. */
export type Floor = (typeof FLOORS)[number]

const HOUSE = 'service/src/'

/** Tells whether a file belongs to the house, tests beside its files included. */
export function isInHouse(path: string): boolean {
  return path.startsWith(HOUSE)
}

/** Tells whether a file exists for tests only. */
export function isForTests(path: string): boolean {
  return path.startsWith('service/test/') || /\.(test|fixture)\.tsx?$/.test(path)
}

/** Tells whether a file of the house runs in production. */
export function isHouseCode(path: string): boolean {
  return isInHouse(path) && !isForTests(path)
}

/**
 * The floor on which a file of the house stands; undefined for a folder that is no floor. What lies beside `main.ts`
 * stands on the top one.
 */
export function floorOf(path: string): Floor | undefined {
  const [folder, ...rest] = path.slice(HOUSE.length).split('/')
  return rest.length === 0 ? 'app' : FLOORS.find((floor) => floor === folder)
}

/** Tells whether a file of the house lies in one of its folders, as in `isUnder(path, 'platform/db')`. */
export function isUnder(path: string, folder: string): boolean {
  return path.startsWith(`${HOUSE}${folder}/`)
}

/** Tells whether a path is this file of the house, as in `isFile(path, 'kernel/ids.ts')`. */
export function isFile(path: string, file: string): boolean {
  return path === `${HOUSE}${file}`
}

/** The top folder of a path: the workspace it belongs to. */
export function workspaceOf(path: string): string {
  return path.split('/')[0] ?? ''
}
