import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { canInstallPackages, installPackages, isDebian } from './debian.ts'
import { isExecutable, pathFolders } from './executables.ts'
import { UnmetNeed } from './need.ts'

const DEBIAN_ROOT = '/usr/lib/postgresql'
const CLUSTER_SETTINGS = '/etc/postgresql-common/createcluster.d'

/** Debian keeps the server's programs out of PATH, one folder for each major version. */
function debianFolders(): string[] {
  try {
    const versions = readdirSync(DEBIAN_ROOT).filter((name) => /^\d+$/.test(name))
    return versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(DEBIAN_ROOT, version, 'bin'))
  } catch {
    return []
  }
}

function find(): string | undefined {
  const folders = [...debianFolders(), ...pathFolders()]
  return folders.find((folder) => ['initdb', 'postgres'].every((name) => isExecutable(join(folder, name))))
}

/** Installs the server without the cluster that Debian makes and starts with it: the tests make their own. */
async function install(signal: AbortSignal): Promise<void> {
  const setting = join(CLUSTER_SETTINGS, 'parley-tests.conf')
  mkdirSync(CLUSTER_SETTINGS, { recursive: true })
  writeFileSync(setting, 'create_main_cluster = false\n')
  try {
    await installPackages(['postgresql'], signal)
  } finally {
    rmSync(setting, { force: true })
  }
}

/**
 * The folder of the newest PostgreSQL server on this machine. As root on Debian it is installed when there is none.
 * @throws UnmetNeed with the one command to run, where it cannot be installed from here
 */
export async function postgresBinaries(signal: AbortSignal): Promise<string> {
  const there = find()
  if (there) return there
  if (canInstallPackages()) await install(signal)
  const installed = find()
  if (installed) return installed
  const remedy = isDebian() ? 'Run: sudo apt-get install -y postgresql' : 'Install one, and put its bin folder in PATH.'
  throw new UnmetNeed(`The tests need a PostgreSQL server, and there is none here. ${remedy}`)
}
