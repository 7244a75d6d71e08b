import { existsSync } from 'node:fs'
import { runCommand } from './command.ts'
import { UnmetNeed } from './need.ts'

const APT_GET = '/usr/bin/apt-get'

/** Tells whether packages can be installed here without asking anybody. */
export function canInstallPackages(): boolean {
  return process.getuid?.() === 0 && existsSync(APT_GET)
}

/** Tells whether this is a system whose packages apt-get installs, whoever we are. */
export function isDebian(): boolean {
  return existsSync(APT_GET)
}

/**
 * Installs Debian packages, in silence unless it fails.
 * @throws UnmetNeed with apt-get's output
 */
export async function installPackages(packages: string[], signal: AbortSignal): Promise<void> {
  console.log(`Installing ${packages.join(', ')} for the tests…`)
  const options = { signal, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  // A failing update may still leave lists that suffice; if they do not, the install says so.
  const update = await runCommand(APT_GET, ['update', '-q'], options)
  const args = ['install', '-y', '-q', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120', ...packages]
  const install = await runCommand(APT_GET, args, options)
  if (!install.ok) throw new UnmetNeed(`${update.output}${install.output}Installing ${packages.join(', ')} failed.`)
}
