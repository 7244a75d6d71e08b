/** What we read of an entry of package-lock.json; whatever else it says is kept. */
export type LockedPackage = {
  version?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}

/** Packages by their place in the tree: `node_modules/a/node_modules/b`, and the empty place for the project itself. */
export type Packages = Record<string, LockedPackage>

/** The part of package-lock.json that lists packages. */
export type Lockfile = { packages: Packages }

const SYSTEMS = /\b(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)\b/
const PROCESSORS = /\b(arm64|arm|ia32|loong64|mips64el|ppc64|riscv64|s390x|wasm32|x64)\b/

/** Packages for one platform are named for it; by this npm knows not to fetch them on another. In npm's own order. */
function entryFor(name: string, version: string, dev: boolean | undefined): LockedPackage {
  const [system, processor] = [SYSTEMS.exec(name)?.[1], PROCESSORS.exec(name)?.[1]]
  return {
    version,
    ...(processor && { cpu: [processor] }),
    ...(dev && { dev }),
    ...(/musl/.test(name) && { libc: ['musl'] }),
    optional: true,
    ...(system && { os: [system] }),
  }
}

/** Where npm looks for a dependency of the package at a place: within it, beside it, and so on up. */
function lookUps(place: string, name: string): string[] {
  if (place === '') return [`node_modules/${name}`]
  const cut = place.lastIndexOf('/node_modules/')
  return [`${place}/node_modules/${name}`, ...lookUps(cut < 0 ? '' : place.slice(0, cut), name)]
}

function depth(place: string): number {
  return place.split('node_modules/').length
}

/** The entry that a dependency needs and the lockfile has not; a version that stands in its way pushes it further in. */
function missingEntry(known: Packages, place: string, name: string): [string, LockedPackage] | undefined {
  const owner = known[place]
  const version = owner?.optionalDependencies?.[name]
  const found = lookUps(place, name).find((key) => known[key])
  // A range may be met by any version, and npm tells none for what it could not see.
  if (!owner || !version || !/^\d/.test(version) || (found && known[found]?.version === version)) return undefined
  return [`${found && place ? `${place}/` : ''}node_modules/${name}`, entryFor(name, version, owner.dev)]
}

/**
 * Entries that the lockfile lacks: optional packages of a fixed version that npm could not see when it wrote the file,
 * as happens behind a registry that carries one platform only. `npm ci` refuses a lockfile without them, everywhere.
 */
export function missingPackages({ packages }: Lockfile): Packages {
  const missing: Packages = {}
  const places = Object.keys(packages).sort((a, b) => depth(a) - depth(b))
  for (const place of places) {
    for (const name of Object.keys(packages[place]?.optionalDependencies ?? {})) {
      const found = missingEntry({ ...packages, ...missing }, place, name)
      if (found) missing[found[0]] = found[1]
    }
  }
  return missing
}

/** The lockfile with those entries, in npm's order. They have no hash: npm fills it in where it can see the package. */
export function completeLockfile<T extends Lockfile>(lockfile: T): T {
  const all = Object.entries({ ...lockfile.packages, ...missingPackages(lockfile) })
  const packages = Object.fromEntries(all.sort(([a], [b]) => a.localeCompare(b, 'en')))
  return { ...lockfile, packages }
}
