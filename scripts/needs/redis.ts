import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { canInstallPackages, installPackages, isDebian } from './debian.ts'
import { findExecutable } from './executables.ts'
import { type Need, type NeedContext, UnmetNeed } from './need.ts'

/** Asked by every installer before it starts a service. */
const SERVICE_POLICY = '/usr/sbin/policy-rc.d'
const NO_SERVICE_STARTS = '#!/bin/sh\nexit 101\n'

const find = () => findExecutable(['redis-server'])

/** Installs the server without the service that Debian starts with it: the tests start their own. */
async function install(signal: AbortSignal): Promise<void> {
  const isOurs = !existsSync(SERVICE_POLICY)
  if (isOurs) writeFileSync(SERVICE_POLICY, NO_SERVICE_STARTS, { mode: 0o755 })
  try {
    await installPackages(['redis-server'], signal)
  } finally {
    if (isOurs) rmSync(SERVICE_POLICY, { force: true })
  }
}

/**
 * Finds a Redis server, as root on Debian installs one where there is none, and sets PARLEY_TEST_REDIS_SERVER to its program.
 * Test files start it themselves, on ports of their own, because they stop and empty it. When that variable is set already,
 * that program is used.
 * @throws UnmetNeed with the one command to run, where it cannot be installed from here
 */
export async function findRedis({ signal }: NeedContext): Promise<Need> {
  const stop = async () => {}
  if (process.env['PARLEY_TEST_REDIS_SERVER']) return { env: {}, stop }
  if (!find() && canInstallPackages()) await install(signal)
  const program = find()
  if (program) return { env: { PARLEY_TEST_REDIS_SERVER: program }, stop }
  const remedy = isDebian() ? 'Run: sudo apt-get install -y redis-server' : 'Install one, and put it in PATH.'
  throw new UnmetNeed(`The tests need a Redis server, and there is none here. ${remedy}`)
}
